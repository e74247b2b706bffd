"""Hints to homework 18."""

import numpy as np

from lmbook_grader.hints import Hints, array, close

hint = Hints()
GREY, CLASS = 5, 22
ROUND = [1, 2, 0]  # it takes three steps of it to be back
LINE = np.array([[10, 20, 30]])


@hint("orders", "Your inverse is the order itself: that is right only for orders that exchange pixels in pairs.")
def own_inverse(inverse):
    return list(map(int, inverse(ROUND))) == ROUND


@hint("orders", "Your inverse is the order from its end; the inverse says for each pixel when it is read.")
def backwards(inverse):
    return list(map(int, inverse(ROUND))) == [0, 2, 1]


@hint(
    "orders",
    "The sequence begins with another pixel than the order does: `order[t]` is the pixel read at step t, not the step of pixel t.",
)
def inverse_order(to_sequence):
    return list(map(int, to_sequence(LINE, ROUND))) == [30, 10, 20]


@hint("orders", "Height and width of your image are exchanged.")
def shape_exchanged(to_image):
    return array(to_image([1, 2], [0, 1], 1, 2)).shape == (2, 1)


@hint("orders", "On the way back the order says where a grey is to be written; yours reads there.")
def reads_on_the_way_back(to_image):
    return close(to_image([20, 30, 10], ROUND, 1, 3), [[30, 10, 20]])


def pair(training_pair, order, image=((0, 14),)):
    inputs, targets = training_pair(np.array(image), 3, order)
    return list(map(int, inputs)), list(map(int, targets))


@hint("pair", "The class does not come first: it is what the first pixel is predicted from.")
def class_behind(training_pair, STEP=1):
    return pair(training_pair, [0, 1])[0][0] != CLASS + 3


@hint("pair", "Your targets are greys where ids are asked for.")
def no_ids(training_pair, STEP=1):
    return min(pair(training_pair, [0, 1])[1]) < GREY


@hint("pair", "The last pixel is among your inputs: each step is given what it should predict.")
def input_is_target(training_pair, STEP=1):
    return pair(training_pair, [0, 1])[0][1] in (GREY + 14, GREY + 14 // STEP)


@hint("pair", "The targets do not follow the order of reading.")
def targets_by_rows(training_pair, STEP=1):
    return pair(training_pair, [1, 0])[1][0] == GREY


@hint("pair", "The inputs do not follow the order of reading.")
def inputs_by_rows(training_pair, STEP=1):
    return pair(training_pair, [1, 0])[0][1] == GREY


P = np.array([[0.4, 0.1], [0.2, 0.3]])


@hint(
    "factors",
    "The second factor does not know the first pixel: your factors are marginal probabilities, and their product is not that of the image.",
)
def marginals(factors):
    return close(array(factors(P, [0, 0], [0, 1])), [P[0].sum(), P[:, 0].sum()])


@hint("factors", "Your first factor depends on a pixel that is read later: what was not read yet is summed over.")
def given_all(factors):
    return close(array(factors(P, [0, 0], [0, 1]))[0], P[0, 0] / P[:, 0].sum())


@hint("factors", "The order changes nothing in your factors.")
def order_unused(factors):
    return close(factors(P, [0, 0], [1, 0]), factors(P, [0, 0], [0, 1]))


@hint("factors", "Another order only exchanges your factors: what is given at each step is what was read before it.")
def only_listed(factors):
    return close(array(factors(P, [0, 0], [1, 0]))[::-1], factors(P, [0, 0], [0, 1]))


def patches(cut_patches, h, w, EDGE, channels=1):
    """Pixels are numbered 100 row + column, from the first that counts; a channel adds a half."""
    rows, columns = np.arange(-EDGE, h + EDGE)[:, None, None], np.arange(-EDGE, w + EDGE)[None, :, None]
    image = 100.0 * rows + columns + np.arange(channels) / 2
    return array(cut_patches(image[None], 2))[0]


@hint("cutting", "Your patches are pieces of rows: a patch holds pixels of r rows.")
def pieces(cut_patches, EDGE=0):
    return close(patches(cut_patches, 4, 4, EDGE)[0], [0, 1, 2, 3])


@hint("cutting", "For images that are not square your patches hold the wrong pixels: height and width are exchanged.")
def height_for_width(cut_patches, EDGE=0):
    return close(patches(cut_patches, 4, 4, EDGE)[0][2], 100) and not close(patches(cut_patches, 2, 6, EDGE)[0][2], 100)


@hint("cutting", "Your second patch lies below the first; patches follow each other row by row.")
def by_columns(cut_patches, EDGE=0):
    return close(patches(cut_patches, 4, 4, EDGE)[1][0], 200)


@hint("cutting", "Within a patch all pixels of one channel come first; the channels of a pixel stand together.")
def channels_first(cut_patches, EDGE=0):
    return close(patches(cut_patches, 4, 4, EDGE, 2)[0][1], 1)


def kernel(kernels_of):
    return array(kernels_of(np.arange(8.0)[None], 2, 2))[0, 0].ravel()


@hint(
    "kernels", "The first kernel holds the first numbers of a row of W: there, the channels of a pixel stand together."
)
def reshape_alone(kernels_of):
    return close(kernel(kernels_of), [0, 1, 2, 3])


@hint("kernels", "Your kernels are turned round: this convolution multiplies what lies on top of each other.")
def turned_round(kernels_of):
    return close(kernel(kernels_of), [6, 4, 2, 0])


@hint("kernels", "Rows and columns of your kernels are exchanged.")
def rows_and_columns(kernels_of):
    return close(kernel(kernels_of), [0, 4, 2, 6])
