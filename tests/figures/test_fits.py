"""DoesItFit: memory and times are those of the models, by mouse and by keyboard."""

import re

import numpy as np
import pytest
import torch
from seen import each, says, table

from lmbook.figures import DoesItFit
from lmbook.gpt import GPT


def sliders(page):
    return [page.get_by_role("slider", name=name) for name in ("Texts at once", "Tokens in each")]


# --- in Python ------------------------------------------------------------------------------------------------------


def libraries():
    """Each model of the menu as transformers builds it, from the sizes of its config.json, without memory."""
    import transformers as hf

    qwen = {"vocab_size": 151936, "head_dim": 128, "num_attention_heads": 32, "num_key_value_heads": 8}
    small = {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16}
    eight = {"hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36}
    many = {"hidden_size": 2048, "num_hidden_layers": 48, "moe_intermediate_size": 768, "num_experts": 128}
    many |= {"num_experts_per_tok": 8, "num_key_value_heads": 4}
    return [
        (hf.GPT2LMHeadModel, hf.GPT2Config()),
        (hf.Qwen3ForCausalLM, hf.Qwen3Config(**qwen | small, tie_word_embeddings=True)),
        (hf.Qwen3ForCausalLM, hf.Qwen3Config(**qwen | eight, tie_word_embeddings=False)),
        (hf.MixtralForCausalLM, hf.MixtralConfig()),
        (hf.Qwen3MoeForCausalLM, hf.Qwen3MoeConfig(**qwen | many, tie_word_embeddings=False)),
        (hf.GptOssForCausalLM, hf.GptOssConfig(num_hidden_layers=24, num_local_experts=32)),
        (hf.GptOssForCausalLM, hf.GptOssConfig(num_hidden_layers=36, num_local_experts=128)),
    ]


def test_the_models_have_the_parameters_of_the_libraries():
    for m, (make, config) in zip(DoesItFit().models, libraries(), strict=True):
        with torch.device("meta"):
            theirs = make(config)
        named = dict(theirs.named_parameters())
        assert sum(p.numel() for p in named.values()) == m["parameters"], m["name"]
        assert sum(p.numel() for name, p in named.items() if ".experts." in name) == m["in_experts"], m["name"]
        kept = getattr(config, "num_key_value_heads", config.num_attention_heads)
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        assert (kept * head, config.num_hidden_layers) == (m["width"], m["n_layers"]), m["name"]
        experts = getattr(config, "num_local_experts", getattr(config, "num_experts", 1))
        assert (experts, getattr(config, "num_experts_per_tok", 1)) == (m["experts"], m["top_k"]), m["name"]
        if m["short"]:
            assert config.sliding_window == m["short"]
            assert 2 * config.layer_types.count("sliding_attention") == m["n_layers"]


def test_half_of_the_layers_of_gpt_oss_keep_128_tokens():
    figure = DoesItFit(model=5, tokens=12)
    each = 2 * 2 * figure.models[5]["width"]  # bytes of a token in a layer
    assert figure.numbers()["cache"] == each * (12 * 4096 + 12 * 128)
    figure.tokens = 6
    assert figure.numbers()["cache"] == each * 24 * 64


def test_the_cache_is_that_of_a_running_gpt():
    torch.manual_seed(0)
    sizes = {"name": "x", "parameters": 1, "in_experts": 0, "experts": 1, "top_k": 1, "short": 0}
    figure = DoesItFit(models=[{**sizes, "n_layers": 3, "width": 16, "window": 40}], texts=1, tokens=5)
    model = GPT(30, 40, 16, 2, 3).half().eval()
    with torch.no_grad():
        _, state = model.run(torch.randint(30, (2, 32)), model.start(2))
    assert figure.numbers()["cache"] == sum(t.numel() * t.element_size() for pair in state["past"] for t in pair)


def test_one_text_reads_two_experts_of_eight_and_many_texts_all():
    figure = DoesItFit(model=3, bits=16, tokens=5)
    m = figure.models[3]
    outside = m["parameters"] - m["in_experts"]

    def read():
        now = figure.numbers()
        return now["reading"] * figure.gpus[figure.gpu]["bandwidth"] * 1e9 - now["cache"]

    assert read() == pytest.approx(2 * (outside + m["in_experts"] / 4))
    figure.texts = 10
    assert read() == pytest.approx(2 * m["parameters"])


def test_alternative_text_and_fallback_say_whether_it_fits():
    figure = DoesItFit(model=3, gpu=1, bits=8, texts=5, tokens=11)
    assert "too much" in figure.alt
    figure.bits = figure.texts = 4
    assert "which fits" in figure.alt
    assert figure.alt.split(":")[0] in figure.fallback()


# --- on the page ----------------------------------------------------------------------------------------------------


def test_the_page_shows_the_numbers_of_python(show):
    page = show(DoesItFit())
    texts, tokens = sliders(page)
    for model, gpu, bits, many, long in ((0, 0, 32, 0, 5), (5, 1, 4, 6, 15), (3, 0, 4, 3, 12), (4, 2, 8, 10, 15)):
        page.get_by_label("Model", exact=True).select_option(str(model))
        page.get_by_label("GPU", exact=True).select_option(str(gpu))
        page.get_by_role("group", name="Bits per weight").get_by_role("radio", name=str(bits), exact=True).check()
        texts.fill(str(many))
        tokens.fill(str(long))
        figure = DoesItFit(model=model, gpu=gpu, bits=bits, texts=many, tokens=long)
        now = figure.numbers()
        cache = f"{now['cache'] / 1e6:.2f} MB" if now["cache"] < 5e6 else f"{now['cache'] / 1e9:.2f} GB"
        drawn = page.locator(".lm-chart svg").first
        assert f"weights {now['weights'] / 1e9:.2f} GBcache {cache}" in page.locator(".lm-chart").text_content()
        assert f"{now['weights'] / 1e9:.2f} GB of weights and {cache} of cache" in drawn.get_attribute("aria-label")
        assert table(page)[0][1] == f"{figure.models[model]['parameters']:,}"
        fits = now["weights"] + now["cache"] <= figure.gpus[gpu]["memory"] * 1e9
        assert ("does not fit" in says(page)) == ("not fit" in table(page)[6][1]) == (not fits)
        assert ("tokens per second" in says(page)) == fits  # what does not fit writes nothing
        if fits:
            assert float(table(page)[6][1].replace(",", "")) == pytest.approx(now["speed"], abs=0.51)
            assert ("Computing takes" in says(page)) == (now["computing"] > now["reading"])
        for row, name in zip(table(page)[4:6], ("reading", "computing"), strict=True):
            value, unit = row[1].split()
            assert float(value) == pytest.approx(now[name] * {"ms": 1e3, "µs": 1e6}[unit], abs=0.051)


def test_keys_move_the_sliders(show):
    page = show(DoesItFit(gpu=1))
    texts, tokens = sliders(page)
    said = lambda: [one.get_attribute("aria-valuetext") for one in (texts, tokens)]  # noqa: E731
    assert said() == ["1", "512"]
    assert "It fits" in says(page)
    texts.press("ArrowRight")
    assert said() == ["2", "512"]
    tokens.press("End")
    assert said() == ["2", "1,024"]  # the window of GPT-2
    assert table(page)[1][1] == "1,024"
    texts.press("End")
    assert "does not fit" in says(page)


def test_the_mouse_chooses_bits(show):
    page = show(DoesItFit())
    page.get_by_role("group", name="Bits per weight").get_by_text("4", exact=True).click()
    weights = f"{DoesItFit(bits=4).numbers()['weights'] / 1e9:.2f} GB of weights"
    assert page.locator(".lm-chart svg").first.get_attribute("aria-label").startswith(weights)


def test_the_curves_cross_where_the_cache_outgrows_the_weights(show):
    page = show(DoesItFit(model=4, gpu=1, bits=4, tokens=12), bets=True)
    assert page.locator(".lmfi-curve.lmfi-weights").is_visible()
    assert not page.locator(".lmfi-curve.lmfi-cache, .lmfi-here").locator("visible=true").count()
    page.get_by_role("slider", name="Texts", exact=True).fill("2")
    page.get_by_role("button", name="Bet").click()
    height = lambda name: [float(y) for y in re.findall(r" (-?[\d.]+)", each(page, name, "d")[0][0])]  # noqa: E731
    weights, cache = height(".lmfi-curve.lmfi-weights"), height(".lmfi-curve.lmfi-cache")
    first = next(k for k, (w, c) in enumerate(zip(weights, cache, strict=True)) if c < w)  # higher up on the page
    m = DoesItFit().models[4]

    def more(texts):
        experts = 1 - (1 - m["top_k"] / m["experts"]) ** texts
        read = 0.5 * (m["parameters"] - m["in_experts"] + experts * m["in_experts"])
        return 2 * m["n_layers"] * m["width"] * 2 * 4096 * texts > read

    begins = next(texts for texts in range(1, 1025) if more(texts))
    assert 2 ** (first - 1) < begins <= 2**first
    assert f"more from {begins} texts on; you said 4, {begins / 4:.1f} times too few." in (
        page.locator(".lm-wager").inner_text()
    )
    said = page.locator(".lmfi-said").all_text_contents()
    assert said == ["you: 4", f"from {begins}"]
    places = [float(x) for x in re.findall(r"[ML]([\d.]+) ", each(page, ".lmfi-curve.lmfi-cache", "d")[0][0])]
    at = places[0] + (places[10] - places[0]) * np.log2(begins) / 10
    assert float(each(page, ".lmfi-here", "cx")[0][0]) == pytest.approx(at, abs=0.1)
    assert each(page, ".lmfi-bet", "d")[0][0].startswith(f"M{places[2]:g}"[:4])
    page.get_by_role("slider", name="Tokens in each").press("ArrowRight")
    assert page.locator(".lmfi-bet").count() == 0  # another question
