"""Common wrong answers to homework 18, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def to_sequence(image, order):
    return np.asarray(image).reshape(-1)[list(order)].tolist()


def to_image(sequence, order, height, width):
    image = np.zeros(height * width, dtype=int)
    image[list(order)] = sequence
    return image.reshape(height, width)


def inverse(order):
    return np.argsort(order).tolist()


def training_pair(image, label, order):
    image = np.asarray(image) // STEP
    greys = (GREY + np.asarray(image).reshape(-1)[list(order)]).tolist()
    return [CLASS + label, *greys[:-1]], greys


def cut_patches(images, r):
    images = images[:, EDGE : images.shape[1] - EDGE, EDGE : images.shape[2] - EDGE]
    B, h, w, channels = images.shape
    axes = images.reshape(B, h // r, r, w // r, r, channels)
    return axes.transpose(0, 1, 3, 2, 4, 5).reshape(B, -1, r * r * channels)


def kernels_of(W, r, channels):
    return W.reshape(len(W), r, r, channels).transpose(0, 3, 1, 2)


wrong("an order is taken for its own inverse", 14, inverse, {"np.argsort(order).tolist()": "list(order)"})
wrong("the order backwards is taken for its inverse", 14, inverse, {"np.argsort(order).tolist()": "list(order)[::-1]"})
# the round trip is right and the sequence is not
wrong("both ways use the inverse order", 14, to_sequence, {"list(order)": "inverse(order)"})
wrong("height and width exchanged", 14, to_image, {"(height, width)": "(width, height)"})
wrong("the input at each step is the target", 13, training_pair, {"[:-1]": "[1:]"})
wrong(
    "the class stands behind the image",
    13,
    training_pair,
    {"[CLASS + label, *greys[:-1]], greys": "greys, [*greys[1:], CLASS + label]"},
)
wrong(
    "targets are greys, not ids",
    13,
    training_pair,
    {
        " (GREY +": "",
        ").tolist()": "",
        "[CLASS + label, *greys[:-1]], greys": "[CLASS + label, *(GREY + greys[:-1]).tolist()], greys.tolist()",
    },
)
wrong("patches column by column", 13, cut_patches, {"1, 3": "3, 1"})
wrong("channels in front of the pixels", 14, cut_patches, {"2, 4, 5": "5, 2, 4"})
wrong("height taken for width", 14, cut_patches, {"h, w": "w, h"})
wrong(
    "kernels by a reshape alone",
    14,
    kernels_of,
    {"(len(W), r, r, channels).transpose(0, 3, 1, 2)": "(len(W), channels, r, r)"},
)
wrong(
    "kernels turned round, as in a textbook's convolution",
    13,
    kernels_of,
    {"(0, 3, 1, 2)": "(0, 3, 1, 2)[:, :, ::-1, ::-1]"},
)
wrong("rows and columns of the kernel exchanged", 13, kernels_of, {"1, 2": "2, 1"})


@wrong("the way back reads where it should write", 14)
def to_image(sequence, order, height, width):
    return np.array(sequence)[list(order)].reshape(height, width)


@wrong("both ways use the inverse order", 14)  # the round trip is right and the sequence is not
def to_image(sequence, order, height, width):
    return np.array(sequence)[list(order)].reshape(height, width)


@wrong("targets stay row by row", 14)
def training_pair(image, label, order):
    flat = GREY + np.asarray(image).reshape(-1) // STEP
    return [CLASS + label, *flat[list(order)][:-1].tolist()], flat.tolist()


@wrong("inputs stay row by row", 14)
def training_pair(image, label, order):
    flat = GREY + np.asarray(image).reshape(-1) // STEP
    return [CLASS + label, *flat[:-1].tolist()], flat[list(order)].tolist()


@wrong("marginals, not conditionals", 13)
def factors(P, image, order):
    return [P.sum(axis=tuple(j for j in range(P.ndim) if j != k))[image[k]] for k in order]


@wrong("given all other pixels", 13)
def factors(P, image, order):
    found = []
    for k in order:
        rest = tuple(slice(None) if j == k else image[j] for j in range(P.ndim))
        found.append(P[tuple(image)] / P[rest].sum())
    return found


@wrong("the order is not used", 14)
def factors(P, image, order):
    joint = [1.0] + [P[tuple(image[:t])].sum() for t in range(1, P.ndim + 1)]
    return [b / a for a, b in zip(joint, joint[1:])]


@wrong("given the pixels before in rows, listed in the order", 14)  # the product is right and the factors are not
def factors(P, image, order):
    joint = [1.0] + [P[tuple(image[:t])].sum() for t in range(1, P.ndim + 1)]
    rows = [b / a for a, b in zip(joint, joint[1:])]
    return [rows[k] for k in order]


@wrong("pieces of rows", 13)
def cut_patches(images, r):
    images = images[:, EDGE : images.shape[1] - EDGE, EDGE : images.shape[2] - EDGE]
    B, h, w, channels = images.shape
    return images.reshape(B, h * w // r**2, r * r * channels)
