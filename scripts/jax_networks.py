"""The networks of the preset `paper` in JAX: seconds for all steps, compilation left out.

    jax_networks.py FILE float32|float64

FILE is what `bench networks` wrote: n, W row by row, 12 neighbors of each point.
"""

import sys
import time

import jax
import numpy as np

jax.config.update("jax_enable_x64", sys.argv[2] == "float64")
import jax.numpy as jnp  # noqa: E402

RANK, BATCH, KAPPA, RATE, DECAY = 32, 100, 0.05, 0.02, 1e-4
TAUS = np.arange(1, 10) / 10


def main():
    values = np.fromfile(sys.argv[1])
    n = int(values[0])
    kind = np.dtype(sys.argv[2])
    w = jnp.asarray(values[1 : 1 + n * n].reshape(n, n), kind)
    neighbors = values[1 + n * n :].reshape(n, -1).astype(int)
    pools = np.concatenate([np.arange(n)[:, None], neighbors], axis=1)
    rng = np.random.default_rng(0)

    def batches(steps):
        """Rows and the rows of their targets, drawn before."""
        epochs = -(-steps * BATCH // n)
        order = np.concatenate([rng.permutation(n) for _ in range(epochs)])[: steps * BATCH].reshape(steps, BATCH)
        targets = np.take_along_axis(pools[order], rng.integers(0, pools.shape[1], (steps, BATCH, 1)), axis=2)[..., 0]
        return jnp.asarray(order), jnp.asarray(targets)

    def rates(steps):
        progress = np.arange(1, steps + 1) / steps
        return jnp.asarray(RATE * np.where(progress <= 0.5, 1.0, 1.0 - 0.98 * (progress - 0.5) / 0.5), kind)

    def loss(parameters, tau, rows, targets):
        psi, b, c = parameters
        hidden = jax.nn.sigmoid(rows @ psi + b)
        residual = targets - jax.nn.sigmoid(hidden @ psi.T + c)
        low, high = -tau * KAPPA, (1 - tau) * KAPPA
        square = residual**2 / (2 * KAPPA)
        below = -tau * residual - KAPPA * tau**2 / 2
        above = (1 - tau) * residual - KAPPA * (1 - tau) ** 2 / 2
        huber = jnp.where(residual < low, below, jnp.where(residual > high, above, square))
        return huber.sum() / len(rows) + 0.5 * DECAY * (psi**2).sum()

    def train(parameters, tau, order, targets, rate):
        def step(state, now):
            parameters, first, second, t = state
            rows, of_targets, rate = now
            gradient = jax.grad(loss)(parameters, tau, w[rows], w[of_targets])
            t = t + 1
            first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
            second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
            scale = rate * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            parameters = jax.tree.map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-8), parameters, first, second)
            return (parameters, first, second, t), None

        zeros = jax.tree.map(jnp.zeros_like, parameters)
        start = (parameters, zeros, jax.tree.map(jnp.zeros_like, parameters), jnp.asarray(0.0, kind))
        return jax.lax.scan(step, start, (order, targets, rate))[0][0]

    @jax.jit
    def all_networks(parameters, taus, common, each, common_rates, each_rates):
        start = train(parameters, 0.3, *common, common_rates)
        return jax.vmap(lambda tau: train(start, tau, *each, each_rates))(taus)

    vectors = np.linalg.eigh(np.asarray(w, float))[1][:, -RANK:]
    start = (jnp.asarray(vectors, kind), jnp.zeros(RANK, kind), jnp.full(n, -4.0, kind))
    args = (start, jnp.asarray(TAUS, kind), batches(200), batches(250), rates(200), rates(250))
    jax.block_until_ready(all_networks(*args))
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        jax.block_until_ready(all_networks(*args))
        times.append(time.perf_counter() - begin)
    print(min(times))


main()
