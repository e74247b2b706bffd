"""Common wrong answers to homework 18, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

THERE = """
def to_sequence(image, order):
    return np.asarray(image).reshape(-1)[list(order)].tolist()
"""
BACK = """
def to_image(sequence, order, height, width):
    image = np.zeros(height * width, dtype=int)
    image[list(order)] = sequence
    return image.reshape(height, width)
"""
INVERSE = """
def inverse(order):
    return np.argsort(order).tolist()
"""

WRONG = {
    "an order is taken for its own inverse": {
        "answers": {"orders": f"{THERE}\n{BACK}\ndef inverse(order):\n    return list(order)\n"},
        "score": 14,
    },
    "the order backwards is taken for its inverse": {
        "answers": {"orders": f"{THERE}\n{BACK}\ndef inverse(order):\n    return list(order)[::-1]\n"},
        "score": 14,
    },
    "the way back reads where it should write": {
        "answers": {
            "orders": f"""{THERE}
{INVERSE}

def to_image(sequence, order, height, width):
    return np.array(sequence)[list(order)].reshape(height, width)
"""
        },
        "score": 14,
    },
    "both ways use the inverse order": {
        "answers": {
            "orders": f"""{INVERSE}

def to_sequence(image, order):
    return np.asarray(image).reshape(-1)[inverse(order)].tolist()


def to_image(sequence, order, height, width):
    return np.array(sequence)[list(order)].reshape(height, width)
"""
        },
        "score": 14,  # the round trip is right and the sequence is not
    },
    "height and width exchanged": {
        "answers": {
            "orders": f"""{THERE}
{INVERSE}

def to_image(sequence, order, height, width):
    image = np.zeros(height * width, dtype=int)
    image[list(order)] = sequence
    return image.reshape(width, height)
"""
        },
        "score": 14,
    },
    "targets stay row by row": {
        "answers": {
            "pair": """
def training_pair(image, label, order):
    flat = GREY + np.asarray(image).reshape(-1)
    return [CLASS + label, *flat[list(order)][:-1].tolist()], flat.tolist()
"""
        },
        "score": 14,
    },
    "inputs stay row by row": {
        "answers": {
            "pair": """
def training_pair(image, label, order):
    flat = GREY + np.asarray(image).reshape(-1)
    return [CLASS + label, *flat[:-1].tolist()], flat[list(order)].tolist()
"""
        },
        "score": 14,
    },
    "the input at each step is the target": {
        "answers": {
            "pair": """
def training_pair(image, label, order):
    greys = (GREY + np.asarray(image).reshape(-1)[list(order)]).tolist()
    return [CLASS + label, *greys[1:]], greys
"""
        },
        "score": 13,
    },
    "the class stands behind the image": {
        "answers": {
            "pair": """
def training_pair(image, label, order):
    greys = (GREY + np.asarray(image).reshape(-1)[list(order)]).tolist()
    return greys, [*greys[1:], CLASS + label]
"""
        },
        "score": 13,
    },
    "targets are greys, not ids": {
        "answers": {
            "pair": """
def training_pair(image, label, order):
    greys = np.asarray(image).reshape(-1)[list(order)]
    return [CLASS + label, *(GREY + greys[:-1]).tolist()], greys.tolist()
"""
        },
        "score": 13,
    },
    "marginals, not conditionals": {
        "answers": {
            "factors": """
def factors(P, image, order):
    return [P.sum(axis=tuple(j for j in range(P.ndim) if j != k))[image[k]] for k in order]
"""
        },
        "score": 13,
    },
    "given all other pixels": {
        "answers": {
            "factors": """
def factors(P, image, order):
    found = []
    for k in order:
        rest = tuple(slice(None) if j == k else image[j] for j in range(P.ndim))
        found.append(P[tuple(image)] / P[rest].sum())
    return found
"""
        },
        "score": 13,
    },
    "the order is not used": {
        "answers": {
            "factors": """
def factors(P, image, order):
    joint = [1.0] + [P[tuple(image[:t])].sum() for t in range(1, P.ndim + 1)]
    return [b / a for a, b in zip(joint, joint[1:])]
"""
        },
        "score": 14,
    },
    "given the pixels before in rows, listed in the order": {
        "answers": {
            "factors": """
def factors(P, image, order):
    joint = [1.0] + [P[tuple(image[:t])].sum() for t in range(1, P.ndim + 1)]
    rows = [b / a for a, b in zip(joint, joint[1:])]
    return [rows[k] for k in order]
"""
        },
        "score": 14,  # the product is right and the factors are not
    },
    "pieces of rows": {
        "answers": {
            "cutting": """
def cut_patches(images, r):
    B, h, w, channels = images.shape
    return images.reshape(B, h * w // r**2, r * r * channels)
"""
        },
        "score": 13,
    },
    "patches column by column": {
        "answers": {
            "cutting": """
def cut_patches(images, r):
    B, h, w, channels = images.shape
    axes = images.reshape(B, h // r, r, w // r, r, channels)
    return axes.transpose(0, 3, 1, 2, 4, 5).reshape(B, -1, r * r * channels)
"""
        },
        "score": 13,
    },
    "channels in front of the pixels": {
        "answers": {
            "cutting": """
def cut_patches(images, r):
    B, h, w, channels = images.shape
    axes = images.reshape(B, h // r, r, w // r, r, channels)
    return axes.transpose(0, 1, 3, 5, 2, 4).reshape(B, -1, r * r * channels)
"""
        },
        "score": 14,
    },
    "height taken for width": {
        "answers": {
            "cutting": """
def cut_patches(images, r):
    B, w, h, channels = images.shape
    axes = images.reshape(B, h // r, r, w // r, r, channels)
    return axes.transpose(0, 1, 3, 2, 4, 5).reshape(B, -1, r * r * channels)
"""
        },
        "score": 14,
    },
    "kernels by a reshape alone": {
        "answers": {
            "kernels": """
def kernels_of(W, r, channels):
    return W.reshape(len(W), channels, r, r)
"""
        },
        "score": 14,
    },
    "kernels turned round, as in a textbook's convolution": {
        "answers": {
            "kernels": """
def kernels_of(W, r, channels):
    return W.reshape(len(W), r, r, channels).transpose(0, 3, 1, 2)[:, :, ::-1, ::-1]
"""
        },
        "score": 13,
    },
    "rows and columns of the kernel exchanged": {
        "answers": {
            "kernels": """
def kernels_of(W, r, channels):
    return W.reshape(len(W), r, r, channels).transpose(0, 3, 2, 1)
"""
        },
        "score": 13,
    },
}
