"""Pages from Jinja2 templates: a value is escaped unless it is Markup, and what nobody could see in it is replaced."""

from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lmbook_press.unseen import plain


def visible(value: object) -> object:
    """A value as a template shows it, with a replacement character for each sign that nobody could see."""
    return value if isinstance(value, Markup) else plain(value)


@cache
def _environment(package: str) -> Environment:
    loaders = [PackageLoader(name) for name in dict.fromkeys((package, "lmbook_press"))]
    return Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, package: str = "lmbook_press", **values: object) -> Markup:
    """The page of a template in the folder `templates` of a package, or in the press's own."""
    return Markup(_environment(package).get_template(template).render(values))


def filled(html: str, *values: object) -> Markup:
    """A piece of HTML with values for its {}, escaped as in a template."""
    return Markup(html).format(*map(visible, values))
