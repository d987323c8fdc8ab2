"""Linear TSVM and DA as published (Sindhwani 2007, chapter 6), in NumPy and SciPy, to measure the objective that they reach.

    python research/races/plain_s3vm.py tsvm|da DATA.svm LABELS [--ratio R] [--gamma G] [--gamma-u U]

LABELS is the number of first rows whose labels are used. The implementation follows the text and is slow; `research/races/race`
compares objectives with it. Prints one line of JSON.
"""

import argparse
import json
import time

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.sparse import csr_matrix, hstack
from sklearn.datasets import load_svmlight_file


class Problem:
    def __init__(self, x, y, labeled, gamma, gamma_u):
        self.x = csr_matrix(hstack([x, np.ones((x.shape[0], 1))]))  # the bias as a weight
        self.y, self.labeled, self.gamma, self.gamma_u = y, labeled, gamma, gamma_u
        self.unlabeled = x.shape[0] - labeled

    def train(self, w, positive, weight):
        """min gamma/2 |w|² + 1/2l Σ h²(yo) + weight/2u Σ [p h²(o) + (1 − p) h²(−o)]; `positive` holds p."""
        known, l, u = self.y[: self.labeled], self.labeled, self.unlabeled

        def value(w):
            o = self.x @ w
            a = np.maximum(0, 1 - known * o[:l])
            up, down = np.maximum(0, 1 - o[l:]), np.maximum(0, 1 + o[l:])
            slope = np.concatenate([-known * a / l, weight / u * ((1 - positive) * down - positive * up)])
            loss = a @ a / (2 * l) + weight / (2 * u) * (positive @ up**2 + (1 - positive) @ down**2)
            return self.gamma / 2 * (w @ w) + loss, self.gamma * w + self.x.T @ slope

        return minimize(value, w, jac=True, method="L-BFGS-B", options=dict(maxiter=500, ftol=1e-9, gtol=1e-8)).x

    def objective(self, w, labels):
        o, l, u = self.x @ w, self.labeled, self.unlabeled
        known, guessed = np.maximum(0, 1 - self.y[:l] * o[:l]), np.maximum(0, 1 - labels * o[l:])
        return self.gamma / 2 * (w @ w) + known @ known / (2 * l) + self.gamma_u / (2 * u) * (guessed @ guessed)

    def ranked(self, w, ratio):
        o = (self.x @ w)[self.labeled :]
        labels = -np.ones(self.unlabeled)
        labels[np.argsort(-o, kind="stable")[: int(ratio * self.unlabeled + 0.5)]] = 1
        return labels

    def tsvm(self, ratio):
        """Section 6.3: the maximum number of switches per step; the weight of unlabeled rows grows from 1e-5 by factors of 1.5."""
        w = self.train(np.zeros(self.x.shape[1]), np.zeros(self.unlabeled), 0.0)
        labels, weight = self.ranked(w, ratio), 1e-5
        w = self.train(np.zeros_like(w), (labels + 1) / 2, weight)
        while True:
            while True:
                o = (self.x @ w)[self.labeled :]
                up = np.flatnonzero((labels > 0) & (o < 1))
                down = np.flatnonzero((labels < 0) & (o > -1))
                up, down = up[np.argsort(o[up], kind="stable")], down[np.argsort(-o[down], kind="stable")]
                n = min(len(up), len(down))
                pairs = int(np.sum(o[up[:n]] < o[down[:n]]))
                if not pairs:
                    break
                labels[up[:pairs]], labels[down[:pairs]] = -1, 1
                w = self.train(w, (labels + 1) / 2, weight)
            if weight >= self.gamma_u:
                return w, labels
            weight = min(1.5 * weight, self.gamma_u)
            w = self.train(w, (labels + 1) / 2, weight)

    def da(self, ratio):
        """Section 6.4: T decreases from 10 gamma_u by factors of 1.5; returns the weights with the lowest objective on the path."""
        w = self.train(np.zeros(self.x.shape[1]), np.zeros(self.unlabeled), 0.0)
        temperature, p, best = 10 * self.gamma_u, np.full(self.unlabeled, ratio), None

        def plogp(p):
            return np.where(p > 0, p * np.log2(np.maximum(p, 1e-300)), 0)

        for _ in range(30):
            for _ in range(100):
                w = self.train(w, p, self.gamma_u)
                o = (self.x @ w)[self.labeled :]
                g = self.gamma_u * (np.maximum(0, 1 - o) ** 2 - np.maximum(0, 1 + o) ** 2)

                def share(v, g=g, temperature=temperature):
                    return np.mean(1 / (1 + np.exp(np.clip((g - v) / temperature, -700, 700)))) - ratio

                nu = brentq(share, g.min() - 50 * temperature, g.max() + 50 * temperature, xtol=1e-12)
                new = 1 / (1 + np.exp(np.clip((g - nu) / temperature, -700, 700)))
                old = np.clip(p, 1e-15, 1 - 1e-15)
                kl = plogp(new) + plogp(1 - new) - new * np.log2(old) - (1 - new) * np.log2(1 - old)
                p = new
                if kl.mean() < 1e-6:
                    break
            labels = self.ranked(w, ratio)
            now = self.objective(w, labels)
            if best is None or now < best[0]:
                best = now, w, labels
            if -(plogp(p) + plogp(1 - p)).mean() < 1e-6:
                break
            temperature /= 1.5
        return best[1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("method", choices=("tsvm", "da"))
    parser.add_argument("data")
    parser.add_argument("labels", type=int)
    parser.add_argument("--ratio", type=float, default=0.5)
    parser.add_argument("--gamma", type=float, default=0.001)
    parser.add_argument("--gamma-u", type=float, default=1.0)
    args = parser.parse_args()
    x, y = load_svmlight_file(args.data)
    y = np.where(y == y.max(), 1.0, -1.0)
    problem = Problem(x, y, args.labels, args.gamma, args.gamma_u)
    start = time.process_time()
    w, labels = problem.tsvm(args.ratio) if args.method == "tsvm" else problem.da(args.ratio)
    right = float(np.mean(labels == y[args.labels :]))
    print(json.dumps(dict(objective=problem.objective(w, labels), accuracy=right, seconds=time.process_time() - start)))


if __name__ == "__main__":
    main()
