"""What is seen on a page, asked for in one call: a call for each cell of a table takes a page most of its time."""

# What a page has and V8 by itself has not
ATOB = "globalThis.atob = (text) => Array.from(Uint8Array.fromBase64(text), (b) => String.fromCharCode(b)).join('')"


def cells_of(box, tags: str = "th, td", text: str = "innerText") -> list[list[str]]:
    """The texts of each row of the tables in a page or a part of it."""
    return box.locator("tbody tr").evaluate_all(
        "(rows, [tags, text]) => rows.map((row) => [...row.querySelectorAll(tags)].map((cell) => cell[text]))",
        [tags, text],
    )


def table(page, i: int = 0) -> list[list[str]]:
    """The rows of the i-th table that folds, which is open from then on."""
    box = page.locator("details:has(table)").nth(i)
    box.evaluate("(node) => { node.open = true; }")
    return cells_of(box)


def says(page) -> str:
    return page.locator(".lm-says").inner_text()


def number(text: str) -> float:
    """−1.5, 3.2 × 10⁻⁵, 1,234, 45°, ∞, 7.5 % and < 0.001 as floats."""
    text = text.strip("<> ").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-", ",°"))
    mantissa, _, exponent = text.replace("∞", "inf").replace("infinite", "inf").removesuffix(" %").partition(" × 10")
    return float(mantissa) * 10.0 ** int(exponent or 0) / (100 if text.endswith("%") else 1)


def later(page, ms: int) -> None:
    """Until all that the page's own timers were to do within ms is done: they go off in their order, however late."""
    page.evaluate("(ms) => new Promise((done) => setTimeout(done, ms))", ms)


def rightmost(page, selector: str) -> float:
    """Where the one of these boxes ends that ends furthest to the right; there is at least one."""
    return page.locator(selector).evaluate_all(
        "(boxes) => boxes.length ? Math.max(...boxes.map((box) => box.getBoundingClientRect().right)) : Infinity"
    )


def each(page, selector: str, *names: str) -> list[list[str | None]]:
    """The attributes of these names of each element."""
    return page.locator(selector).evaluate_all(
        "(nodes, names) => nodes.map((node) => names.map((name) => node.getAttribute(name)))", list(names)
    )
