"""Reverse-mode differentiation as in lmbook.autograd: an operation is its value and one vjp per input.

An array may be changed in place after an operation took it. Tensors over the same memory share a `Store`; a node
remembers how often those had been changed that its vjps read, and backward() compares.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .errors import NotCovered
from .modes import Mode

QUIET = functools.partial(np.errstate, all="ignore")  # a logarithm of 0 is -inf, and nothing is said
Vjp = Callable[[np.ndarray], Any]  # an array, or a Part
_numbers = itertools.count()
CHANGED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "its version is {now}; expected version {then} instead. Hint: enable anomaly detection to find the operation "
    "that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True)."
)
AGAIN = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
    "saved tensors after calling backward."
)


class Store:
    """What tensors over the same memory share: version, changes in place so far; rebased, those inside a graph."""

    __slots__ = ("rebased", "version")

    def __init__(self) -> None:
        self.version = self.rebased = 0


class Node:
    """One operation in a graph. edges: (node or leaf, vjp) for each input that needs a gradient."""

    __slots__ = ("edges", "freed", "name", "number", "saved", "watcher")

    def __init__(self, name: str, edges: list[tuple[Any, Vjp]], saved: list[tuple[Store, int]]):
        self.name, self.edges, self.saved = name, edges, saved
        self.number, self.freed, self.watcher = next(_numbers), False, None

    def __repr__(self) -> str:
        return f"<{self.name} object at {id(self):#x}>"


class Part:
    """A gradient that is zero but at one place, for a tensor of this shape: one slice of many, added where it belongs."""

    __slots__ = ("g", "place", "shape")

    def __init__(self, shape: tuple[int, ...], place: tuple, g: np.ndarray):
        self.shape, self.place, self.g = shape, place, g


def edge(tensor: Any) -> Any:
    """Where a gradient for this tensor goes."""
    if tensor._rebased != tensor._store.rebased:
        raise NotCovered("a gradient through a view of a tensor that was changed in place afterwards")
    return tensor._node if tensor._node is not None else tensor


def node(name: str, out: Any, edges: Sequence[tuple[Any, Vjp]], saves: Iterable[Any] = ()) -> Any:
    """Makes `out` the result of an operation, if one of its inputs needs a gradient. saves: what the vjps read."""
    if Mode.now:
        wanted = []
        for tensor, vjp in edges:
            if tensor._rebased != tensor._store.rebased:
                edge(tensor)
            if tensor._needs:
                wanted.append((tensor._node if tensor._node is not None else tensor, vjp))
        if wanted:
            saved = [(tensor._store, tensor._store.version) for tensor in saves]
            out._node, out._needs = Node(name, wanted, saved), True
    return out


def order(roots: Iterable[Any]) -> list[Node]:
    """The nodes on which these depend, each before its inputs: an input is always older."""
    seen: dict[int, Node] = {}
    waiting = [one for one in roots if isinstance(one, Node)]
    while waiting:
        one = waiting.pop()
        if one.number not in seen:
            seen[one.number] = one
            if one.freed and one.saved:
                raise RuntimeError(AGAIN)
            waiting += [parent for parent, _ in one.edges if isinstance(parent, Node)]
    return [seen[number] for number in sorted(seen, reverse=True)]


def run(roots: list[tuple[Any, np.ndarray]], keep: bool, wanted: dict[int, Any] | None = None) -> dict[int, np.ndarray]:
    """Carries gradients from the roots to the leaves: into their .grad, or, for grad(), to those wanted alone."""
    grads: dict[int, np.ndarray] = {}
    own: set[int] = set()  # whose array nobody else has, so that more is added in place
    leaves: dict[int, Any] = {}

    def give(target: Any, g: Any) -> None:
        key = id(target)
        if not isinstance(target, Node):
            leaves[key] = target
        part = isinstance(g, Part)
        if not part and key not in grads:
            grads[key] = g
            return
        if key not in own:
            own.add(key)
            held = grads.get(key)
            grads[key] = np.zeros(g.shape, g.g.dtype) if held is None else np.array(held)
        if part:
            grads[key][g.place] += g.g
        else:
            grads[key] += g

    with QUIET():
        nodes = order(one for one, _ in roots)
        for target, g in roots:
            give(target, g)
        for one in nodes:
            g = grads.get(id(one))
            if g is None:
                continue
            if one.watcher is not None and wanted is None and (watcher := one.watcher()) is not None:
                put(watcher, g)
            for store, version in one.saved:
                if store.version != version:
                    raise RuntimeError(CHANGED.format(now=store.version, then=version))
            for parent, vjp in one.edges:
                give(parent, vjp(g))
            if wanted is None or id(one) not in wanted:
                del grads[id(one)]
                own.discard(id(one))
            if not keep:
                one.freed = True
        if not keep:
            for one in nodes:
                if one.saved:
                    one.edges = [(parent, _gone) for parent, _ in one.edges]
        if wanted is None:
            for key, leaf in leaves.items():
                put(leaf, grads[key])
    return grads


def _gone(g: np.ndarray) -> np.ndarray:
    raise RuntimeError(AGAIN)


def put(leaf: Any, g: np.ndarray) -> None:
    """Adds a gradient to what a leaf has, in place."""
    g = np.asarray(g, leaf._a.dtype)
    if g.shape != leaf._a.shape:
        raise RuntimeError(f"a vjp gave a gradient of shape {g.shape} for an input of shape {leaf._a.shape}")
    if leaf.grad is None:
        leaf.grad = leaf._wrap(np.array(g))
    else:
        leaf.grad._a += g
        leaf.grad._store.version += 1


def start(output: Any, gradient: Any) -> tuple[Any, np.ndarray]:
    """A root and its gradient."""
    if not output.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if gradient is None:
        if output._a.size != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        return edge(output), np.ones_like(output._a)
    if gradient._a.shape != output._a.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of {gradient.shape} and output[0] has a shape of "
            f"{output.shape}."
        )
    return edge(output), np.asarray(gradient._a, output._a.dtype)


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False):
    """torch.autograd.backward."""
    if create_graph:
        raise NotCovered("a gradient of a gradient (create_graph)")
    tensors = list(tensors) if isinstance(tensors, list | tuple) else [tensors]
    given = list(grad_tensors) if isinstance(grad_tensors, list | tuple) else [grad_tensors] * len(tensors)
    run([start(*pair) for pair in zip(tensors, given, strict=True)], bool(retain_graph))


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    allow_unused: bool | None = None,
) -> tuple:  # fmt: skip
    """torch.autograd.grad: the gradients for these inputs, which keep their own .grad."""
    if create_graph:
        raise NotCovered("a gradient of a gradient (create_graph)")
    outputs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    inputs = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    given = list(grad_outputs) if isinstance(grad_outputs, list | tuple) else [grad_outputs] * len(outputs)
    for one in inputs:
        if not one.requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    targets = [edge(one) for one in inputs]
    roots = [start(*pair) for pair in zip(outputs, given, strict=True)]
    found = run(roots, bool(retain_graph), {id(one): one for one in targets})
    grads = [found.get(id(one)) for one in targets]
    if not allow_unused and any(g is None for g in grads):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
            "this is the desired behavior."
        )
    return tuple(None if g is None else inputs[0]._wrap(np.array(g)) for g in grads)
