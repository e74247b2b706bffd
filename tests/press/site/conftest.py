"""The site as a reader gets it: served from a subfolder, read in Chromium alone."""

import pytest

from lmbook_press.site.serving import serve


@pytest.fixture(scope="session")
def served(site):
    """(address, sent) of the site in a subfolder; see lmbook_press.site.serving."""
    with serve(site) as found:
        yield found


@pytest.fixture
def visit(new_context, served, listen):
    """visit(page, width=, scheme=, ...) -> a Playwright page.

    At the end the test fails on any console error, any answer but 200, and any request to another host.
    """
    address, sent = served
    faults = []
    before = len(sent)

    def open_page(name, width=1280, scheme="light", **options):
        context = new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        listen(context, address, faults)
        page = context.new_page()
        page.on("console", lambda m: faults.append(f"{name}: {m.text}") if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: faults.append(f"{name}: {error}"))
        page.goto(address + name)
        page.mouse.move(1, 1)  # a reader moves: figures that are far away come to life too
        page.wait_for_function("[...document.querySelectorAll('figure.lm-figure')].every((f) => f.dataset.live)")
        page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")  # words move until then
        return page

    yield open_page
    missing = [path for path, _, status in sent[before:] if status != 200]
    assert faults == []
    assert missing == []
