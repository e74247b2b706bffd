"""Questions to chapter 21, What scale buys."""

from fractions import Fraction

from lmbook_exams.question import pick, question, row, some, whole


@question("What a run costs", points=4, minutes=6, objective=1, level=1)
def run_costs(rng):
    r"""A model has $L = «L»$ layers of width $d = «d»$ with $12 d^2$ weights each; tables are left out. It is trained
    on $D = «D»$ billion tokens in contexts of $T = «T»$.

    (a) How many weights has it? (b) How many operations does its training take by $6ND$? (c) Derive the share that
    attention's own products add to this if every query is compared with all $T$ keys, and give it here. (d) For which
    context would the share be 1?

    *Solution.* (a) $12 L d^2 = «N»$. (b) $6ND = «flops:.3g»$. (c) Scores and weighted sums take $4 T d$ a token and layer
    forward and $12 T d$ in training, the weights $72 d^2$: $T / (6d) = «share»$. (d) $T = 6 d = «equal»$.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c), with its reason. 1 point: (d).
    """
    L, d, T, D = pick(rng, (8, 12, 24)), pick(rng, (512, 1024, 2048)), pick(rng, (1024, 4096, 8192)), whole(rng, 2, 40)
    N = 12 * L * d * d
    return {"L": L, "d": d, "T": T, "D": D, "N": N, "C": 6 * N * D, "flops": 6.0e9 * N * D, "share": Fraction(T, 6 * d),
            "equal": 6 * d}  # fmt: skip


@question("A budget, divided", points=4, minutes=6, objective=2, level=2)
def budget_divided(rng):
    r"""The best size is $N = k\, C^{a}$ with $a = «a»$, where $C = 6ND$. At some budget it is $N = «N»$ million with
    $D = «D»$ million tokens.

    (a) How many operations is that? (b) The budget grows by the factor $«factor»$. What are $N$ and $D$ now? (c) How
    many tokens per weight were there, and how many are there now? (d) Which $a$ would leave this ratio as it is?

    *Solution.* (a) $6 \cdot «N» \cdot «D» \cdot 10^{12} = «C» \cdot 10^{12}$. (b) $N$ grows by
    $«factor»^{«a»} = «grown»$ to $«N2»$ million, $D$ by $«factor» / «grown» = «rest»$ to $«D2»$ million. (c) $«r»$ and
    $«r2»$. (d) $a = \tfrac12$.

    *Marks.* 1 point: (a). 1 point: (b), both. 1 point: (c). 1 point: (d).
    """
    factor, a, grown = pick(rng, ((16, Fraction(1, 4), 2), (16, Fraction(3, 4), 8), (64, Fraction(2, 3), 16),
                                  (64, Fraction(1, 3), 4)))  # fmt: skip
    N = whole(rng, 2, 9)
    D = N * pick(rng, (8, 16, 32))
    rest = factor // grown
    return {"a": a, "N": N, "D": D, "factor": factor, "grown": grown, "rest": rest, "C": 6 * N * D, "N2": N * grown,
            "D2": D * rest, "r": D // N, "r2": Fraction(D * rest, N * grown)}  # fmt: skip


@question("The lowest point", points=4, minutes=7, objective=2, level=2)
def lowest_point(rng):
    r"""At one budget, three sizes with $\ln N = «x»$ have losses of $«y»$ nats.

    (a) Put a parabola $a (\ln N)^2 + b \ln N + c$ through the three points and give $a$ and $b$. (b) Where is its
    lowest point, in $\ln N$, and how high? (c) Which of the three sizes would be called best without it? (d) When is
    the lowest point of a parabola no estimate at all?

    *Solution.* (a) $a = «a:g»$, $b = «b:g»$. (b) $\ln N = -b / (2a) = «best:g»$, loss $«least:g»$. (c) $\ln N = «nearest»$. (d)
    When it lies outside the sizes that were tried, or the parabola opens downwards.

    *Marks.* 1 point: (a). 1 point: (b), both. 1 point: (c). 1 point: (d).
    """
    middle, step = whole(rng, 9, 14), pick(rng, (1, 2))
    a, least = Fraction(4 * pick(rng, (1, 2, 4)), 25 * step**2), Fraction(whole(rng, 14, 25), 10)
    best = middle + Fraction(step, pick(rng, (4, -4)))
    x = [middle - step, middle, middle + step]
    y = [a * (one - best) ** 2 + least for one in x]
    said = [f"{float(one):.2f}" for one in y]  # exact: a step away it is a multiple of a hundredth
    return {"x": row(x), "places": x, "y": row(said), "losses": y, "a": a, "b": -2 * a * best, "best": best,
            "least": least, "nearest": middle}  # fmt: skip


@question("Around the ring", points=5, minutes=8, objective=5, level=2)
def around_ring(rng):
    r"""$P = 3$ processes have gradients in three chunks of one number each: process 0 $«g0»$, process 1 $«g1»$, process 2 $«g2»$. In step
    $s$ process $i$ sends chunk $(i - s) \bmod 3$ to process $(i + 1) \bmod 3$.

    (a) Which chunks travel in step 0, and what do the three processes have after it? (b) And after step 1? Which process
    has which complete sum? (c) What happens in steps 2 and 3? (d) How many numbers has each process sent in all, by
    counting and by formula?

    *Solution.* (a) Process 0 sends chunk 0, 1 sends 1, 2 sends 2: $«a0»$, $«a1»$, $«a2»$. (b) $«b0»$, $«b1»$,
    $«b2»$. Process 0 has the sum of chunk 1, process 1 that of 2, process 2 that of 0. (c) The sums travel on and take
    the place of what was there, until all have $«total»$. (d) Four, $2 \cdot \tfrac{P - 1}{P} \cdot 3 = 4$.

    *Marks.* 1 point: (a). 2 points: (b). 1 point: (c). 1 point: (d).
    """
    g = [some(rng, range(1, 10), 3) for _ in range(3)]
    tables = [[list(each) for each in g]]
    for step in range(2):
        old, new = tables[-1], [list(each) for each in tables[-1]]
        for i in range(3):
            c = (i - step) % 3
            new[(i + 1) % 3][c] += old[i][c]
        tables.append(new)
    told = {f"{name}{i}": row(tables[k][i]) for k, name in enumerate("gab") for i in range(3)}
    return {**told, "gradients": g, "after": tables[2], "total": row([sum(column) for column in zip(*g, strict=True)])}


@question("Who holds what?", points=4, minutes=5, objective=5, level=1)
def who_holds(rng):
    r"""A model of $«N»$ billion weights is trained on $P = «P»$ GPUs with Adam in mixed precision: 2 bytes for a weight,
    2 for its gradient, 12 for the optimizer.

    (a) What does each GPU hold with data parallelism? (b) With the first stage of ZeRO? (c) With everything shared out?
    (d) Stage one sends no more bytes in a step than data parallelism. Why?

    *Solution.* (a) $16 \cdot «N» = «all»$ GB. (b) $(4 + 12 / «P») \cdot «N» = «one:g»$ GB. (c)
    $16 \cdot «N» / «P» = «three:g»$ GB. (d) An all-reduce is a reduce-scatter and an all-gather. ZeRO does the step of its
    own part between the two, and gathers new weights in the place of gradients.

    *Marks.* 1 point: (a). 1 point: (b). 1 point: (c). 1 point: (d).
    """
    N, P = whole(rng, 2, 30), pick(rng, (4, 8, 16, 64))
    return {"N": N, "P": P, "all": 16 * N, "one": (4 + Fraction(12, P)) * N, "three": Fraction(16 * N, P)}


@question("A rate carried over", points=4, minutes=6, objective=4, level=2)
def rate_carried(rng):
    r"""The best rate of Adam at width $«base»$ is $«rate»$ thousandths. The model is made $«wide»$ wide, under muP.

    (a) Which rates do hidden matrices and the table of embeddings take? (b) By what are the logits divided? (c) Give the
    reason for the rate of hidden matrices by what one step of Adam does to an activation. (d) With one rate for
    everything, in which direction would the best rate move, and roughly how far?

    *Solution.* (a) $«hidden»$ and $«rate»$ thousandths. (b) $m = «m»$. (c) Adam moves each weight by about the rate. An
    activation sums over the width, so that it would move $«m»$ times as far. (d) Down, by a factor of up to $«m»$.

    *Marks.* 1 point: (a), both. 1 point: (b). 1 point: (c). 1 point: (d).
    """
    base, m, rate = pick(rng, (32, 64, 128)), pick(rng, (4, 8, 16)), whole(rng, 2, 9)
    return {"base": base, "m": m, "wide": base * m, "rate": rate, "hidden": Fraction(rate, m)}


@question("A fit that promises much", "words", points=4, minutes=6, objective=3, level=3)
def promising_fit():
    r"""Runs at budgets from $10^{10}$ to $10^{12}$ operations fit $L = k\, C^{-b}$ very well. Somebody computes from
    it the loss at $10^{24}$, with an interval from a bootstrap.

    (a) Why does a good fit on the grid not decide between laws with and without a floor? (b) What does the interval
    contain, and what not? (c) Name a use of the law that is justified, and the run that tests it.

    *Solution.* (a) On a short range both curves are nearly straight and pass through the same points; far away they
    differ as much as one likes. (b) The scatter of the runs. Not the form of the law, which it takes for granted, nor
    what all runs have in common, such as a rate that suits one size. (c) Choosing size and text of the next budget; one
    run at a few times the highest budget, predicted beforehand.

    *Marks.* 1 point: (a). 2 points: (b). 1 point: (c).
    """


@question("A mean of means", "bug", points=4, minutes=6, objective=5, level=2)
def mean_of_means():
    r"""Every process reads its share of a batch of texts that differ in length, and then:

    ```python
    loss = nll.sum() / n_tokens            # of this process's share
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)            # adds up over the processes
        p.grad /= dist.get_world_size()
    ```

    (a) Two processes have 100 and 300 tokens. With which weight does a token of each enter the gradient, and with which
    should it? (b) Repair it. (c) A test with texts of one length finds nothing. Which one does, and what is compared?

    *Solution.* (a) $\tfrac12 \cdot \tfrac1{100} = \tfrac1{200}$ and $\tfrac1{600}$; it should be $\tfrac1{400}$ for
    all. (b) Backward from the sum, add up the gradients and the numbers of tokens over the processes, and divide the one
    by the other. (c) Shares with unequal numbers of tokens: the weights after a step against those of one process that
    had the whole batch.

    *Marks.* 1 point: (a). 2 points: (b). 1 point: (c).
    """


@question("The network in two halves", "derivation", points=4, minutes=6, objective=5, level=2)
def two_halves():
    r"""A feed-forward network $W_2\, g(W_1 \mathbf x)$ without biases is cut for two processes.

    (a) Cut $W_1$ by rows and $W_2$ by columns, and show that the outputs of both processes add up to that of the whole.
    (b) Why can $W_1$ not be cut by columns in the same way? (c) How many numbers must be summed over the processes for
    one token of width $d$, and in which of the passes?

    *Solution.* (a) Let $\mathbf h = W_1 \mathbf x$ have the halves $\mathbf h_1$ and $\mathbf h_2$, from the rows of
    $W_1$. As $g$ acts on each entry, $W_2\, g(\mathbf h) = W_2^{(1)} g(\mathbf h_1) + W_2^{(2)} g(\mathbf h_2)$. (b)
    Cut by columns, each process has a *summand* of every $h_j$, and $g$ of a sum is not the sum of $g$; the sum would
    have to be made before $g$. (c) $d$ numbers forward for the output, and $d$ backward for the gradient of
    $\mathbf x$, which is a sum over both halves too.

    *Marks.* 2 points: (a). 1 point: (b). 1 point: (c), both passes.
    """


@question("Is it an induction head?", "what if", points=4, minutes=6, objective=6, level=3)
def is_induction():
    r"""In a model of two layers a head of layer 2 puts most of its weight on the position after the last occurrence of
    the current symbol, on texts that repeat a block of symbols.

    (a) Why does that not show that the model *needs* this head? Which experiment does, with which control? (b) The head
    of layer 1 that looks one place back is cut out. What do you expect of the weights of the head in layer 2, and why?
    (c) All training texts repeat blocks of 10 symbols. How can one layer alone solve the task then?

    *Solution.* (a) Another head may do the same, or what it reads may not be used. Cut it out and measure the loss on
    symbols that can be known; as a control cut out another head of the same layer. (b) They no longer find the place:
    its keys carry no note of what stood before. (c) By always looking 9 places back, with positions alone.

    *Marks.* 2 points: (a), experiment and control. 1 point: (b). 1 point: (c).
    """
