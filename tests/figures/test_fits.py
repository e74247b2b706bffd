"""DoesItFit: memory and times are those of the models, by mouse and by keyboard."""

import pytest
import torch
from seen import cells_of
from traitlets import TraitError

from lmbook.figures import DoesItFit
from lmbook.gpt import GPT


def says(page):
    return page.locator(".lm-says").inner_text()


def sliders(page):
    return [page.get_by_role("slider", name=name) for name in ("Texts at once", "Tokens in each")]


def rows(page):
    page.locator("details").evaluate("(node) => { node.open = true; }")
    return cells_of(page)


# --- in Python ------------------------------------------------------------------------------------------------------


def test_the_models_have_the_parameters_of_the_libraries():
    from transformers import MixtralConfig, MixtralForCausalLM

    small, large, mixtral = DoesItFit().models
    with torch.device("meta"):
        for m in small, large:
            model = GPT(50257, 1024, m["width"], m["width"] // 64, m["n_layers"])
            assert sum(p.numel() for p in model.parameters()) == m["parameters"]
        theirs = MixtralForCausalLM(MixtralConfig())
    assert sum(p.numel() for p in theirs.parameters()) == mixtral["parameters"]
    inside = [p.numel() for name, p in theirs.named_parameters() if ".experts." in name]
    assert sum(inside) == mixtral["in_experts"]
    config = theirs.config
    assert config.num_local_experts == mixtral["experts"]
    assert config.num_experts_per_tok == mixtral["top_k"]
    assert config.num_key_value_heads * config.hidden_size // config.num_attention_heads == mixtral["width"]


def test_the_cache_is_that_of_a_running_gpt():
    torch.manual_seed(0)
    sizes = {"name": "x", "parameters": 1, "in_experts": 0, "experts": 1, "top_k": 1}
    figure = DoesItFit(models=[{**sizes, "n_layers": 3, "width": 16, "window": 40}], texts=1, tokens=5)
    model = GPT(30, 40, 16, 2, 3).half().eval()
    with torch.no_grad():
        _, state = model.run(torch.randint(30, (2, 32)), model.start(2))
    assert figure.numbers()["cache"] == sum(t.numel() * t.element_size() for pair in state["past"] for t in pair)


def test_one_text_reads_two_experts_of_eight_and_many_texts_all():
    figure = DoesItFit(model=2, bits=16, tokens=5)
    m = figure.models[2]
    outside = m["parameters"] - m["in_experts"]

    def read():
        now = figure.numbers()
        return now["reading"] * figure.bandwidth * 1e9 - now["cache"]

    assert read() == pytest.approx(2 * (outside + m["in_experts"] / 4))
    figure.texts = 10
    assert read() == pytest.approx(2 * m["parameters"])


@pytest.mark.parametrize(
    ("state", "message"),
    [({"model": 3}, "model is"), ({"bits": 12}, "bits"), ({"texts": 11}, "texts"), ({"tokens": 4}, "tokens")],
)
def test_what_the_figure_does_not_have_is_refused(state, message):
    with pytest.raises((ValueError, TraitError), match=message):
        DoesItFit(**state)


def test_alternative_text_follows_the_state():
    figure = DoesItFit()
    for name, value in (("model", 2), ("bits", 8), ("texts", 5), ("tokens", 11)):
        before = figure.alt
        setattr(figure, name, value)
        assert figure.alt != before
    assert "too much" in figure.alt
    figure.bits = figure.texts = 4
    assert "which fits" in figure.alt
    assert figure.alt.split(":")[0] in figure.fallback()
    assert DoesItFit().html() == DoesItFit().html()


# --- on the page ----------------------------------------------------------------------------------------------------


def test_the_page_shows_the_numbers_of_python(show):
    page = show(DoesItFit())
    texts, tokens = sliders(page)
    for model, bits, many, long in ((0, 32, 0, 5), (1, 16, 6, 15), (2, 4, 3, 12), (2, 8, 10, 15)):
        page.get_by_label("Model", exact=True).select_option(str(model))
        page.get_by_role("group", name="Bits per weight").get_by_role("radio", name=str(bits), exact=True).check()
        texts.fill(str(many))
        tokens.fill(str(long))
        figure = DoesItFit(model=model, bits=bits, texts=many, tokens=long)
        now = figure.numbers()
        assert f"{now['weights'] / 1e9:.2f} GB of weights and {now['cache'] / 1e9:.2f} GB of cache" in says(page)
        assert rows(page)[0][1] == f"{figure.models[model]['parameters']:,}"
        fits = now["weights"] + now["cache"] <= 40e9
        assert ("does not fit" in says(page)) == ("not fit" in rows(page)[3][1]) == (not fits)
        assert ("tokens per second" in says(page)) == fits  # what does not fit writes nothing
        if fits:
            assert float(rows(page)[3][1].replace(",", "")) == pytest.approx(now["speed"], abs=0.51)
            assert ("Computing takes" in says(page)) == (now["computing"] > now["reading"])
        shown = page.locator(".lm-bar-text").all_inner_texts()
        for text, name in zip(shown[3:], ("reading", "computing"), strict=True):
            value, unit = text.split()
            assert float(value) == pytest.approx(now[name] * {"ms": 1e3, "µs": 1e6}[unit], abs=0.051)


def test_keys_move_the_sliders(show):
    page = show(DoesItFit(model=1))
    texts, tokens = sliders(page)
    assert "1 text of 512 tokens" in says(page)
    assert "that fits" in says(page)
    texts.press("ArrowRight")
    assert "2 texts of 512 tokens" in says(page)
    tokens.press("End")
    assert "2 texts of 1,024 tokens" in says(page)  # the window of GPT-2
    texts.press("End")
    assert "does not fit" in says(page)


def test_the_mouse_chooses_bits(show):
    page = show(DoesItFit())
    page.get_by_role("group", name="Bits per weight").get_by_text("4", exact=True).click()
    assert "GPT-2, smallest, 4 bits" in says(page)


def test_the_result_is_read_out(show):
    page = show(DoesItFit())
    sliders(page)[0].press("ArrowRight")
    page.wait_for_function("document.querySelector('[role=status]').textContent.includes('2 texts')")
    assert page.get_by_role("status").inner_text() == says(page)
