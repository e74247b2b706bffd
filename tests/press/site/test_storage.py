"""A browser that keeps nothing: cookies are blocked, the page is in a frame of another site, its storage is full."""

import pytest
from firefox import firefox

pytestmark = pytest.mark.browser

CHAPTER, SEARCH = "notebooks/07-long-memory.html", "search.html?q=attention"
WAYS = ("denied", "full", "partitioned")
FRAME = '<!doctype html><style>* {{ margin: 0; border: 0; width: 100%; height: 100vh }}</style><iframe {} src="{}">'
FULL = """() => {
  localStorage.clear();
  for (let size = 2 ** 22, i = 0; size >= 1; )
    try { localStorage.setItem(`${i++}`, "x".repeat(size)); } catch { size /= 2; }
  try { localStorage.setItem("mode", "dark".repeat(9)); return "room"; } catch { return "full"; }
}"""
# What the scripts of other packages do, tried as a reader would; each entry is true where it works.
TRY = """async () => {
  const until = async (what) => {
    for (let i = 0; i < 250 && !what(); i++) await new Promise((then) => setTimeout(then, 20));
    return Boolean(what());
  };
  const one = (selector) => document.querySelector(selector);
  const opens = async (button, dialog) => {
    await until(() => one(button));
    one(button).click();
    const open = await until(() => one(dialog).open);
    one(dialog).close();
    return open;
  };
  const found = {};
  await until(() => document.readyState === "complete");
  if (one("#search-results")) {
    found.search = await until(() => document.querySelectorAll("#search-results li").length > 3);
    return found;
  }
  found.figure = await until(() => one("figure.lm-figure").dataset.live === "true");
  found.copy = await until(() => document.querySelectorAll(".copybtn").length > 20);
  const before = document.documentElement.dataset.mode;
  one(".theme-switch-button").click();
  found.theme = await until(() => document.documentElement.dataset.mode !== before);
  found.asks = await opens("button.search-button", "#pst-search-dialog");
  if (innerWidth < 700) {
    found.menu = await opens(".primary-toggle", "#pst-primary-sidebar-modal");
    found.contents = await opens(".secondary-toggle", "#pst-secondary-sidebar-modal");
  }
  one("#predict-1 input").value = "ten";
  one("#predict-1 form").requestSubmit();
  found.guess = await until(() => one("#answer-1 .lm-yours")?.textContent.includes("ten"));
  return found;
}"""
EVERYTHING = {"figure", "copy", "theme", "asks", "menu", "contents", "guess"}


def look(open_page, evaluate) -> None:
    """A chapter, narrow and wide, and the search; open_page(name, width), evaluate(script) in that page."""
    for name, width in ((CHAPTER, 390), (CHAPTER, 1280), (SEARCH, 1280)):
        open_page(name, width)
        wanted = {"search"} if name == SEARCH else EVERYTHING - ({"menu", "contents"} if width > 700 else set())
        assert evaluate(TRY) == dict.fromkeys(wanted, True), f"{name}, {width} wide"


@pytest.mark.parametrize("way", [pytest.param(way, marks=pytest.mark.weekly) if way == "full" else way for way in WAYS])
def test_where_nothing_is_kept_all_works_in_chromium(new_context, served, way):
    context, shown = new_context(), []
    sandbox = "sandbox='allow-scripts allow-forms'" if way == "denied" else ""

    def open_page(name, width):
        page = context.new_page()  # the blank page of a new tab is another site than the frame in it
        page.set_viewport_size({"width": width, "height": 900})
        if way == "full":
            page.goto(served[0] + "_static/logo.svg")
            assert page.evaluate(FULL) == "full"
            page.goto(served[0] + name)
        else:
            page.set_content(FRAME.format(sandbox, served[0] + name))
            page.frames[1].wait_for_url(served[0] + name)
        shown[:] = page.frames[-1:]

    look(open_page, lambda script: shown[0].evaluate(script))


# At every push Firefox starts once: browsers differ most in how they deny.
@pytest.mark.firefox
@pytest.mark.parametrize(
    "way", [way if way == "denied" else pytest.param(way, marks=pytest.mark.weekly) for way in WAYS]
)
def test_where_nothing_is_kept_all_works_in_firefox(served, tmp_path, way):
    # 2 is "Block all cookies" of its menu, 5 gives each site that shows a page a storage of its own
    with firefox(tmp_path, network__cookie__cookieBehavior=2 if way == "denied" else 5) as browser:

        def open_page(name, width):
            browser.width(width)
            if way == "full":
                browser.open(served[0] + "_static/logo.svg")
                assert browser.evaluate(FULL) == "full"
            framed = f"data:text/html,{FRAME.format('', served[0] + name)}"
            browser.open(framed if way == "partitioned" else served[0] + name)

        look(open_page, lambda script: browser.evaluate(script, framed=way == "partitioned"))
