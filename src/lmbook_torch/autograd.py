"""torch.autograd."""

from .elementwise import wrap
from .engine import backward, grad  # noqa: F401
from .errors import NotCovered, missing
from .joins import stack
from .modes import enable_grad, no_grad, set_grad_enabled  # noqa: F401

__getattr__ = missing("torch.autograd")


class functional:
    """torch.autograd.functional."""

    @staticmethod
    def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
        """d func / d inputs, a row for each number that func gives."""
        if create_graph or strategy != "reverse-mode":
            raise NotCovered("jacobian with create_graph or forward-mode")
        alone = not isinstance(inputs, tuple)
        given = tuple(wrap(one._a.copy()).requires_grad_() for one in ((inputs,) if alone else inputs))
        with enable_grad():
            y = func(*given)
            if isinstance(y, tuple):
                raise NotCovered("jacobian of several results")
            rows = []
            for i in range(y.numel()):
                seed = wrap(y._a * 0)
                seed._a.reshape(-1)[i] = 1
                if not y.requires_grad:
                    rows.append([None] * len(given))
                else:
                    rows.append(grad(y, list(given), seed, retain_graph=True, allow_unused=True))
        found = []
        for j, one in enumerate(given):
            parts = [wrap(one._a * 0) if row[j] is None else row[j] for row in rows]
            found.append(stack(parts).reshape(*y.shape, *one.shape) if parts else wrap(one._a[:0]))
        return found[0] if alone else tuple(found)
