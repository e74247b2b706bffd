"""What the page's PyTorch is asked beside the real one: expressions, draws, modules, errors.

x, y, m, p, v have numbers (3, 4), (3, 4), (4, 5), (3, 4) above 0, (4,); i, j are integers, b is boolean, q is 3-D.
"""

VALUES = """
x + y; x - y; x * y; x / y; x + 2; 2 - x; 3.5 * x; 1 / x; -x; +x; abs(x); x ** 2; x ** 3; p ** 0.5; 2.0 ** x; p ** y
x @ m; x + v; v * x; x.add(y, alpha=2); x.sub(y, alpha=3); x.mul(y); x.div(y); x.detach() // 2; x % 2; i // 2; i % 3
i / 2; i + 0.5; i * x; i + i; b + i; b * x; b & (x > 0); b | (x > 0); b ^ (x > 0); ~b; i << 1; i >> 1; i & 1; i | 1
i ^ 1; x > y; x < 0; x >= y; x <= y; x == x; x != y; x.eq(y); x.ne(y); x.lt(y); x.le(y); x.gt(y); x.ge(y); x.exp()
x.expm1(); T.exp2(x); p.log(); p.log2(); p.log10(); p.log1p(); p.sqrt(); p.rsqrt(); p.reciprocal(); x.square()
x.sin(); x.cos(); x.tan(); x.tanh(); T.atan(x); x.sigmoid(); x.erf(); x.relu(); x.abs(); x.neg(); x.floor(); x.ceil()
x.trunc(); x.sign(); x.round(); x.round(decimals=1); T.positive(x); i.square(); i.abs(); T.absolute(x); T.negative(x)
T.multiply(x, y); T.divide(x, y); T.subtract(x, y); T.true_divide(x, y); x.div(y, rounding_mode="floor")
x.remainder(2); x.fmod(2); x.detach().floor_divide(2); T.pow(x, 2); x.maximum(y); x.minimum(y); T.logaddexp(x, y)
T.xlogy(p, p); T.special.xlogy(p, p); x.lerp(y, 0.3); x.isnan(); (x / 0).isinf(); (x / 0).isfinite()
(-p / 0).isneginf(); (p / 0).isposinf(); T.logical_not(b); b.logical_and(x > 0); b.logical_or(x > 0)
b.logical_xor(x > 0); i.bitwise_and(1); i.bitwise_or(1); i.bitwise_xor(1); i.bitwise_not(); T.bitwise_left_shift(i, 1)
T.bitwise_right_shift(i, 1); x.clamp(-0.5, 0.5); x.clamp(min=0); x.clamp(max=0.1); x.clip(-1, 1); x.clamp_min(0.2)
(p / 0).nan_to_num(posinf=3.0); T.where(b, x, y); T.where(b, x, 0.0); T.where(b); x.masked_fill(b, -1.0); x.isclose(x)
x.allclose(x + 1e-9); x.allclose(y); x.equal(x); T.equal(x, y); x.reshape(2, 6); x.reshape(-1); x.view(4, 3)
x.view_as(x.T.contiguous()); x.reshape_as(x.T); x.flatten(); q.flatten(1); x.ravel(); x.unflatten(1, (2, -1))
x.unflatten(-1, (2, 2)); x[None].squeeze(0); x[None].squeeze(); x.unsqueeze(1); q.permute(2, 0, 1)
T.permute(q, (2, 0, 1)); x.transpose(0, 1); x.t(); x.T; q.mT; q.movedim(0, 2); v.expand(3, 4); v.expand_as(x)
v.broadcast_to((3, 4)); T.broadcast_tensors(v, x); x.repeat(2, 1); v.tile(2); T.tile(v, (2,)); v.repeat_interleave(2)
x.repeat_interleave(3, 0); x.repeat_interleave(T.tensor([1, 0, 2]), 0); x.flip(0); T.flip(x, (1,)); x.roll(1, 0)
x.rot90(); T.cat([x, y]); T.cat([x, y], 1); T.cat([x, y], dim=-1); T.concat([x, y]); T.concatenate([x, y])
T.stack([x, y]); T.stack([x, y], -1); x.split(2, 1); x.split([1, 3], 1); x.chunk(2, 1); x.tensor_split(3, 1)
x.narrow(1, 1, 2); x.unbind(1); x.select(1, 2); v.unfold(0, 2, 1); x.unfold(1, 3, 1); x.diagonal(); v.diag()
x[:, :3].diag(); T.diag_embed(v); x.tril(); x.triu(1); T.block_diag(x.detach(), y.detach())
T.cartesian_prod(i[0], i[1]); T.meshgrid(i[0], i[1], indexing="ij"); x[0]; x[-1, 2]; x[1:, ::2]; x[..., 0]; x[:, None]
x[[0, 2]]; x[j]; x[j, j]; x[b]; x[x > 0]; q[:, 1]; q[:, j[:2]]; x[T.tensor(1)]; x[b.any(1)]; x.gather(1, i)
x.take_along_dim(i, 1); x.scatter(1, i[:, :1], y[:, :1]); x.scatter(1, i[:, :1], 5.0); x.scatter_add(1, i, y)
x.index_select(1, j); x.index_add(0, j[:2], y[:2]); x.index_fill(1, j[:1], 7.0); x.index_put((j[:2],), y[:2])
b.nonzero(); b.nonzero(as_tuple=True); T.argwhere(b); x.masked_select(b); x.sum(); x.sum(0); x.sum(1, keepdim=True)
q.sum((0, 2)); i.sum(); b.sum(); b.sum(1); x.mean(); x.mean(0); q.mean((1, 2), keepdim=True); p.prod(); p.prod(1)
x.var(); x.var(1); x.var(1, correction=0); x.var(0, unbiased=False); x.std(); x.std(1); x.max(); x.max(1); x.min(0)
x.max(y); x.min(y); x.amax(1); x.amin((0, 1)); x.aminmax(); x.argmax(); x.argmax(1); x.argmin(1, keepdim=True)
b.all(); b.any(1); i.count_nonzero(); x.cumsum(1); i.cumsum(0); p.cumprod(1); x.diff(); x.logsumexp(1)
x.logsumexp((0, 1)); x.softmax(1); x.log_softmax(-1); T.softmax(x, dim=0); i.softmax(0, dtype=T.float32); x.norm()
x.norm(dim=1); x.norm(1); x.norm(p=1, dim=1); x.norm(float("inf")); x.sort(); x.sort(0, descending=True); x.argsort(1)
x.argsort(1, descending=True); x.topk(2); x.topk(2, 0); x.topk(1, largest=False); x.median(); x.median(1)
x.detach().quantile(0.3); x.detach().quantile(T.tensor([0.2, 0.5], dtype=x.dtype), 0); i.unique()
i.unique(return_counts=True); i.unique(return_inverse=True); j.bincount(); j.bincount(minlength=9)
x.detach().corrcoef(); T.searchsorted(x[0].sort().values, y); T.isin(i, j); v @ v; x @ v; v @ m; q @ m; q @ q.mT
x.matmul(m); x.mm(m); q.bmm(q.mT); x.mv(v); v.dot(v); v.inner(v); v.outer(v); T.outer(v, v); T.addmm(y @ m, x, m)
T.einsum("ab,bc->ac", x, m); T.einsum("bij,bkj->bik", q, q); T.einsum("ab->b", x); (m @ m.T).matrix_power(3)
T.kron(x[:2, :2].detach(), y[:2, :2].detach()); T.linalg.solve(s, v); T.linalg.solve(s, s + 1); T.linalg.inv(s)
T.linalg.det(s.detach()); T.linalg.svdvals(x.detach()); T.linalg.eigvals((s + s.T).detach()).real.sort().values
T.linalg.eigvals(s).abs().max().requires_grad; T.linalg.svdvals(x).requires_grad; T.linalg.matrix_rank(x)
T.linalg.eigh((s + s.T).detach())[0]; T.linalg.qr(s.detach())[0].abs(); T.linalg.qr(s.detach()).R.abs()
T.linalg.svd(x.detach())[1]; T.linalg.matrix_rank(s.detach()); T.linalg.matrix_norm(x); T.linalg.norm(x)
T.linalg.norm(x, dim=1); T.linalg.vector_norm(x, dim=0); T.linalg.matrix_power(s, 2); x.clone(); x.to(T.float32)
x.to(T.float64); x.double(); x.float(); x.long(); x.int(); x.bool(); x.short(); x.type(T.float64); x.type_as(i)
x.type(); x.real; T.zeros(2, 3); T.zeros((2, 3), dtype=T.long); T.ones(2); T.empty(0, 3); T.full((2, 2), 3)
T.full((2,), 0.5); T.zeros_like(x); T.ones_like(i); T.full_like(x, 2); T.empty_like(x).shape; T.arange(5)
T.arange(1, 2, 0.25); T.arange(5, 0, -2); T.linspace(0, 1, 7); T.logspace(0, 2, 5); T.eye(3); T.eye(2, 3)
T.as_tensor([1, 2]); T.asarray([1.0]); T.from_numpy(n); T.tensor(n); T.as_tensor(n); T.tensor([[1, 2], [3, 4]])
T.tensor([1, 2.5]); T.tensor(True); T.tensor([]); T.tensor([x[0, 0].item()])
T.frombuffer(bytearray(b"abcd"), dtype=T.uint8); x.new_zeros(2); x.new_ones(2, 2); x.new_empty(0); x.new_full((2,), 3)
x.new_tensor([1, 2]); x.size(); x.size(0); x.dim(); x.ndim; x.numel(); x.shape; x.dtype; x.stride()
x.T.is_contiguous(); x.element_size(); x.tolist(); x[0, 0].item(); len(x); x.is_floating_point()
i.is_floating_point(); T.is_tensor(x); T.result_type(i, 0.5); T.numel(x); list(x.unbind(0))[0]; x.nbytes
x.requires_grad; x.is_leaf; x.T[0].contiguous(); F.relu(x); F.tanh(x); F.sigmoid(x); F.softmax(x, 1)
F.log_softmax(x, 0); F.linear(x, m.T); F.linear(q, m.T, m[0]); F.embedding(i, s); F.embedding(i, s, 0); F.one_hot(j)
F.one_hot(j, 7); F.gelu(x); F.gelu(3 * x); F.gelu(x, approximate="tanh"); F.silu(x); F.softplus(9 * x)
F.logsigmoid(9 * x); F.dropout(x, 0.5, False); F.layer_norm(x, (4,)); F.layer_norm(q, (3, 4))
F.layer_norm(x, (4,), v, v); F.rms_norm(x, (4,), v); F.normalize(x); F.normalize(x, dim=0); F.cosine_similarity(x, y)
T.cosine_similarity(x, y, dim=0); F.pad(x, (1, 2)); F.pad(q, (0, 0, 1, 0), value=3.0); F.pad(x, (-1, 1))
F.mse_loss(x, y); F.mse_loss(x, y, reduction="sum"); F.l1_loss(x, y)
F.binary_cross_entropy_with_logits(x, b.to(x.dtype)); F.binary_cross_entropy(x.sigmoid(), b.to(x.dtype))
F.nll_loss(x.log_softmax(1), i[:, 0]); F.cross_entropy(x, i[:, 0]); F.cross_entropy(x, i[:, 0], ignore_index=2)
F.cross_entropy(x, i[:, 0], reduction="none"); F.cross_entropy(x, i[:, 0], reduction="sum")
F.cross_entropy(x, i[:, 0], label_smoothing=0.1); F.cross_entropy(x, i[:, 0], weight=p[0].detach())
F.cross_entropy(x[0], i[0, 0]); F.cross_entropy(q.mT, i[:2, :3]); F.cross_entropy(x, y.softmax(1))
F.scaled_dot_product_attention(q, q, q); F.scaled_dot_product_attention(q, q, q, is_causal=True)
F.scaled_dot_product_attention(q, q, q, attn_mask=b[:, :3]); F.conv2d(q[None, :, :, :], k)
F.conv2d(q[None], k, padding=1, stride=2); F.max_pool2d(q[None], 2); T.layer_norm(x, (4,)); T.rms_norm(x, (4,))
T.tanh(x[0]); T.log(p); T.sqrt(p); 0 in i; pack([x, y[:2]]); pad_sequence([x, y[:2]])
pad_sequence([x, y[:2]], batch_first=True, padding_value=-1.0); unpack(pack([y[:1], x, y[:2]]))
T.autograd.functional.jacobian(lambda z: z.softmax(0), v); T.no_grad(lambda: x * 2)(); T.inference_mode(lambda: x * 2)()
T.nn.utils.get_total_norm([x, y]); x[0] * x[1] + x[0].sum() + x[:, 1].mean() + x.sum() + x[0]
x + x.unbind(1)[2][:, None] * x[0] + x; (x + x)[1:, 0] + x[:2, 1] + x.T[0][1:]; T.tensor([(1, 2), (3, 4.5)])
T.tensor([[True], [False]]); T.tensor([[v[0].detach(), 2], [3, v[1].detach()]]); T.tensor([n[0], n[1]])
T.tensor([[1, 2.5], [True, 3]])
T.rnn_tanh(q, x[None, :2], [s, s.T, v, v], True, 1, 0.0, False, False, True)
T.rnn_relu(q, x[None], [s, s.T], False, 1, 0.0, False, False, False)
T.gru(q, q, [s.repeat(3, 1), T.cat([x, x, y, x]), v.repeat(3), v.repeat(3)] * 2, True, 1, 0.0, False, True, False)
T.lstm(q, (x[None], y[None]), [s.repeat(4, 1), T.cat([x, s, x, y, x])], False, 1, 0.0, False, False, False)
T.gru(*pack([x, y[:2], p[1:]])[:2], y[None], [s.repeat(3, 1), T.cat([x, x, y, x])], False, 1, 0.0, False, False)
T.lstm(*pack([x, y[:2]])[:2], (q[:, :2], q[:, 1:]), [s.repeat(4, 1), s.T.repeat(4, 1)] * 2, False, 1, 0.0, False, True)
T.rnn_tanh_cell(x, y, s, s.T, v, v); T.rnn_relu_cell(x, y, s, s.T); T.gru_cell(x, y, s.repeat(3, 1), s.repeat(3, 1))
T.lstm_cell(x, (y, p), s.repeat(4, 1), T.cat([x, s, x, y, x]))
x.asin(); (x / 4).asin(); (x / 4).arccos(); x.sinh(); x.cosh(); x.asinh(); (1 + p).acosh(); (x / 4).arctanh(); T.erfc(x)
T.erf(T.tensor([math.inf, -math.inf, math.nan, 0.0, 7.0])); T.atan2(x, y); T.hypot(x, y); (p / 9).logit(); x.frac()
x.clamp_max(0.2); x.addcmul(y, y, value=2); T.addcdiv(x, y, p); T.baddbmm(q[:, :, :3], q, q.mT[:, :, :3]); s.trace()
T.vdot(v, v); T.tensordot(q, m, 1); T.tensordot(x, y, dims=([0], [0])); T.cdist(x, y); T.dist(x, y); (x / x).nansum()
x.nanmean(1); T.var_mean(x, 1); T.std_mean(x); T.logcumsumexp(x.detach(), 1); x.take(j); x.fliplr(); T.flipud(x)
T.unique_consecutive(T.tensor([1, 1, 2, 1])); T.vstack([v, x]); T.hstack([x, y]); T.hstack([v, v]); T.atleast_2d(v)
T.column_stack([v, x.T]); T.tril_indices(3, 4); T.triu_indices(3, 3, 1); T.combinations(j, 2); x.swapaxes(0, 1)
x.greater(y); x.less_equal(y); T.not_equal(x, y); T.promote_types(T.int64, T.float32); T.finfo(T.float32).eps
T.BoolTensor([1, 0]); T.DoubleTensor([1, 2]); T.is_floating_point(x); x.moveaxis(0, 1); T.finfo(T.float64).max
F.leaky_relu(x); F.leaky_relu(x, 0.2); F.elu(x); F.elu(x, 0.5); F.glu(x); F.softmin(x, 1); F.relu6(4 * x)
F.kl_div(x.log_softmax(1), y.softmax(1)); F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean")
F.kl_div(x.log_softmax(1), y.log_softmax(1), reduction="sum", log_target=True); F.huber_loss(x, y, delta=0.5)
F.smooth_l1_loss(x, y); F.smooth_l1_loss(x, y, reduction="none", beta=0.7); nn.NLLLoss()(x.log_softmax(1), i[:, 0])
nn.BCELoss()(x.sigmoid(), b.float().to(x.dtype)); nn.BCEWithLogitsLoss(reduction="sum")(x, b.to(x.dtype))
nn.KLDivLoss(reduction="batchmean")(x.log_softmax(1), y.softmax(1)); nn.L1Loss()(x, y); nn.SmoothL1Loss()(x, y)
nn.HuberLoss(delta=0.5)(x, y); x.arctan(); x.arcsinh(); (1 + p).arccosh(); (x / 4).arcsin()
(x / 4).acos(); (x / 4).atanh(); T.arctan2(x, y); T.addcmul(x, y, p); T.addmv(v[:3], x, v); x.nansum(1); x.logit(0.1)
x.var(1); T.nanmean(p)
T.iinfo(T.int64).max; T.row_stack([v, v]); T.atleast_1d(v[0]); x.swapdims(0, 1); x.greater_equal(y); x.less(y)
"""

# What changes a tensor in place, written as statements over z, a copy of x that is no leaf.
CHANGES = """
z.abs_().add_(1.0).log_(); z.abs_().add_(1.0).sqrt_(); z.abs_().add_(1.0).reciprocal_()
z.index_put_((j[:2],), y[:2])
z += y; z -= y; z *= y.detach(); z /= 2; z.add_(y); z.sub_(1); z.mul_(2); z.div_(3); z.clamp_(min=0); z.clip_(-1, 1)
z.exp_(); z.tanh_(); z.sigmoid_(); z.relu_(); z.neg_(); z.abs_(); z.square_(); z.zero_(); z.fill_(2); z.copy_(y)
z.masked_fill_(b, 0.0); z[0] = y[1]; z[:, 1] = 0.0; z[b] = 1.5; z[:, 1:3] = y[:, :2]; z[j[:1]] = y[:1]
z.scatter_(1, i[:, :1], 0.0); z.index_fill_(1, j[:1], 0.0); z.tril_(); z.triu_(); z.round_(); z.floor_(); z.ceil_()
z.addcmul_(x, y); z.addcdiv_(x, p); z.pow_(2); z.lerp_(y, 0.5); z.clamp_min_(0.1); z.index_add_(0, j[:2], y[:2])
z.scatter_add_(1, i, y); z.cumsum_(1); z.sin_(); z.cos_(); z.expm1_(); z.abs_().log1p_(); z.clamp_max_(0.1)
"""

# After T.manual_seed(3), and twice, so that what one call leaves behind counts too.
DRAWS = """
T.rand(5); T.rand(2, 3, dtype=T.float64); T.randn(3); T.randn(15); T.randn(16); T.randn(37)
T.randn(4, 9, dtype=T.float64); T.randn(7, dtype=T.float64); T.randint(10, (6,)); T.randint(-3, 4, (2, 5))
T.randint(0, 2**40, (3,)); T.randperm(11); T.rand_like(x); T.randn_like(x); T.bernoulli(x.sigmoid())
T.normal(1.0, 2.0, (20,)); T.normal(x, 1.0); T.multinomial(p.detach(), 2); T.multinomial(p[0].detach(), 1)
T.multinomial(p.detach(), 6, replacement=True)
p.detach().multinomial(2); F.gumbel_softmax(x); F.gumbel_softmax(x, 0.5, hard=True)
T.empty(20).uniform_(-1, 2); T.empty(20).normal_(1, 3)
T.empty(5).normal_(); T.empty(9).exponential_(); T.empty(9).bernoulli_(0.3); T.empty(6).random_(0, 9)
F.dropout(x, 0.4); T.dropout(q, 0.2, True); T.nn.init.uniform_(T.empty(3, 4), -2, 2)
T.nn.init.normal_(T.empty(3, 4), 0, 0.02); T.nn.init.xavier_uniform_(T.empty(3, 4))
T.nn.init.xavier_normal_(T.empty(5, 4)); T.nn.init.kaiming_uniform_(T.empty(3, 4))
T.nn.init.kaiming_normal_(T.empty(3, 4), nonlinearity="relu"); T.nn.init.orthogonal_(T.empty(5, 3))
T.nn.init.orthogonal_(T.empty(3, 5)); T.nn.init.constant_(T.empty(2), 3); T.nn.init.zeros_(T.empty(2))
T.nn.init.ones_(T.empty(2)); T.nn.init.eye_(T.empty(2, 3)); T.randn(3, generator=T.Generator().manual_seed(5))
T.initial_seed(); T.svd_lowrank(x, 2)[1]; T.svd_lowrank(x.T, 3, niter=4)[1]; T.nn.init.calculate_gain("tanh")
"""

# Modules with their input; made after T.manual_seed(1), run forward and backward.
MODULES = """
nn.Linear(4, 3) | x; nn.Linear(4, 3, bias=False) | q; nn.Embedding(5, 3) | i; nn.Embedding(5, 3, padding_idx=1) | i
nn.LayerNorm(4) | x; nn.LayerNorm(4, bias=False) | q; nn.RMSNorm(4) | x; nn.Dropout(0.3) | x; nn.Identity() | x
nn.ReLU() | x; nn.Tanh() | x; nn.Sigmoid() | x; nn.SiLU() | x; nn.GELU() | x; nn.Softmax(1) | x; nn.Flatten() | q
nn.Sequential(nn.Linear(4, 2), nn.ReLU(), nn.Linear(2, 2)) | x; nn.Conv2d(2, 3, 2) | q[None]
nn.Conv2d(2, 3, 3, padding=1) | q[None]; nn.MaxPool2d(2) | q[None]; nn.RNN(4, 3) | q
nn.RNN(4, 3, nonlinearity="relu") | q; nn.RNN(4, 3, num_layers=2, bidirectional=True) | q; nn.LSTM(4, 3) | q
nn.LSTM(4, 3, batch_first=True) | q; nn.LSTM(4, 3, num_layers=2, dropout=0.5) | q
nn.LSTM(4, 3, bidirectional=True, bias=False) | q; nn.LSTM(4, 3, bidirectional=True) | pack([x, y[:2]])
nn.GRU(4, 3) | q; nn.GRU(4, 3, num_layers=2) | x
nn.LSTMCell(4, 3) | x[0]; nn.GRU(4, 3, bidirectional=True) | pack([y[:1], x, y[:2]])
nn.GRU(4, 2) | pack([x, y[:2]]); nn.RNNCell(4, 3) | x
nn.LSTMCell(4, 3) | x; nn.GRUCell(4, 3) | x; nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])[1] | x
nn.ModuleDict({"a": nn.Linear(4, 2)})["a"] | x; nn.LeakyReLU(0.2) | x; nn.ELU() | x; nn.GLU() | x
nn.LogSoftmax(1) | x; nn.LogSigmoid() | x; nn.Softplus() | x
"""

# A loss over parameters of nn.Linear(4, 3), five steps of each.
OPTIMIZERS = """
T.optim.SGD(ps, lr=0.1); T.optim.SGD(ps, lr=0.1, momentum=0.9, weight_decay=0.01); T.optim.Adam(ps, lr=0.05)
T.optim.Adam(ps, lr=0.05, weight_decay=0.1); T.optim.Adam(ps, lr=0.01, betas=(0.9, 0.98), eps=1e-9)
T.optim.AdamW(ps, lr=0.05); T.optim.RMSprop(ps, lr=0.02); T.optim.RMSprop(ps, lr=0.02, alpha=0.9, momentum=0.5)
T.optim.RMSprop(ps, lr=0.02, weight_decay=0.1)
T.optim.AdamW([{"params": ps[:1], "weight_decay": 0.0}, {"params": ps[1:]}], lr=0.02, weight_decay=0.3)
"""

ERRORS = """
x + m; x @ x; v @ v[:3]; x @ v[:3]; q @ q; x.view(5, 2); x.T.view(12); x.reshape(5, -1); x[5]; x[0, 7]; x[:, 9]
x[T.tensor([9])]; x[b[:2]]; v[0][0]; T.cat([x, m]); T.stack([x, m]); T.cat([]); x.sum(3); x.squeeze(4); x.expand(3, 5)
x.float() @ x.double().T; float(x); int(v); bool(x); x.item(); len(x[0, 0]); i.mean(); T.tensor("a")
T.tensor([[1, 2], [3]]); x.requires_grad_().numpy(); i.requires_grad_(); F.cross_entropy(x, i[:2, 0])
F.cross_entropy(x, i[:, 0].float()[:, None].long()); F.cross_entropy(x, i[:, 0] + 9); F.embedding(i + 9, y)
F.embedding(x, y); F.one_hot(j, 2); F.layer_norm(x, (3,)); T.zeros(2).backward(); x.backward()
x.sum().backward(T.ones(2)); x.gather(1, i + 9); x.gather(0, j); x.split([1, 1], 1); x.permute(0, 0); q.t(); x.topk(9)
T.randint(5, 5, (2,)); T.multinomial(v.detach() * 0, 1); F.linear(x, m); nn.Linear(4, 3)(m); nn.LSTM(4, 3)(m[None])
x.masked_fill(i, 0.0); x - (x > 0); -b; b - b; x.unflatten(1, (3, 2)); ~x; x[::-1]; twice(x); spoiled(x); leaf(x)
T.device("abacus"); x.foo; T.optim.SGD([], lr=0.1); T.optim.SGD(ps, lr=-1); nn.Dropout(2); F.dropout(x, -1.0)
F.softmax(i, 0); T.autograd.grad(x.sum(), T.zeros(2)); nn.Linear(4, 3).load_state_dict({})
nn.Linear(4, 3).load_state_dict(nn.Linear(4, 2).state_dict()); nn.Linear(4, 3).foo; T.einsum("ab,bc->ac", x, x)
x[1.5]; T.optim.SGD(nn.Linear(2, 2).weight, lr=0.1); i ** -1; x.mm(v)
"""


def lines(text: str) -> list[str]:
    return [one.strip() for line in text.strip().split("\n") for one in line.split("; ") if one.strip()]
