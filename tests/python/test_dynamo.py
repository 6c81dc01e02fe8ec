"""torch.compile(backend="hone"): answers are torch's, whatever the graph; what cannot be converted
stays with torch and says so."""
import copy
import os
import tempfile
import unittest
import unittest.mock
import warnings

import hone
import torch
from torch import nn

import hone.dynamo

from programs import product

F = nn.functional


class Attention(nn.Module):
    """One block of a language model."""

    def __init__(self, width=32, heads=4, words=50):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.place = nn.Embedding(64, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, words)
        self.norm = nn.LayerNorm(width)
        self.heads = heads

    def forward(self, ids):
        batch, length = ids.shape
        x = self.embedding(ids) + self.place(torch.arange(length))
        q, k, v = [part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm(x)).chunk(3, -1)]
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return {"logits": self.out(x + mixed.transpose(1, 2).reshape(batch, length, -1))}


def dense():
    return nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 4))


def picture():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 8 * 8, 10))


class Backend(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.options = {"cache": os.path.join(folder.name, "cache")}

    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(1)

    def compiled(self, called, **more):
        """Which falls back for nothing, where not asked to."""
        options = {**self.options, "fallback": False, **more}
        return torch.compile(called, backend="hone", options=options)

    def same(self, called, *inputs, tolerance=1e-4, **more):
        with torch.no_grad():
            want = called(*[value.clone() for value in inputs])
            made = self.compiled(called, **more)
            for _ in range(2):  # the first call is compared by the backend itself
                got = made(*[value.clone() for value in inputs])
                torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)
        return made

    def test_models(self):
        self.same(dense().eval(), torch.randn(2, 8))
        self.same(dense().eval(), torch.randn(2, 8), freeze=True)
        self.same(picture().eval(), torch.randn(2, 3, 16, 16))
        self.same(Attention().eval(), torch.randint(0, 50, (2, 9)))
        self.same(dense().bfloat16().eval(), torch.randn(2, 8).bfloat16(), tolerance=3e-2)

    def test_autocast(self):
        net, x = dense().eval(), torch.randn(3, 8)

        def called(value):
            return net(value).softmax(-1)

        with torch.autocast("cpu", dtype=torch.bfloat16):  # the result is of 32 bits
            self.same(called, x, tolerance=2e-2)
            self.same(net, x, tolerance=2e-2)

    def test_functions(self):
        self.same(lambda x: (x * x.shape[0], None, 3), torch.randn(3, 4))
        self.same(lambda x: torch.topk(x, 3), torch.randn(4, 9))
        self.same(lambda x: (x.t() @ x).relu(), torch.randn(6, 3).t())
        self.same(lambda x: x * 2 if x.sum() > 0 else x - 1, torch.randn(4, 9))
        self.same(lambda x: x * 2, torch.randn(0, 3))

    def test_complex_numbers(self):
        self.same(torch.fft.fft, torch.randn(8))
        self.same(lambda x: x.abs() + x.real, torch.randn(4, dtype=torch.complex64))
        self.same(lambda x, y: (x * y.conj(), y + 1j), torch.randn(4, 3, dtype=torch.complex64),
                  torch.randn(4, 3, dtype=torch.complex64))

    def test_what_torch_has_faster_ones_for(self):
        for how in ({}, {"norm_first": True}, {"activation": "gelu"}):
            torch._dynamo.reset()
            layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, **how).eval()
            self.same(layer, torch.randn(2, 5, 16))
        self.same(nn.MultiheadAttention(16, 4, batch_first=True).eval(),
                  *[torch.randn(2, 5, 16)] * 3)

    def test_writes_and_views(self):
        self.same(lambda x: x.add_(1) * 2, torch.randn(3, 4))
        x = torch.zeros(2, 3)
        with torch.no_grad():
            kept = self.compiled(lambda value: value.add_(1))(x)
            seen, _ = self.compiled(lambda value: (value.view(-1), value * 2))(x)
            seen.add_(1)
        self.assertEqual(kept.data_ptr(), x.data_ptr())
        self.assertTrue(torch.equal(x, torch.full((2, 3), 2.0)))

    def test_sizes_change(self):
        for net, sizes in ((dense().eval(), [(2, 8), (3, 8), (7, 8)]),
                           (picture().eval(), [(1, 3, 16, 16), (2, 3, 16, 16), (5, 3, 16, 16)])):
            made = self.compiled(net)
            with torch.no_grad():
                for size in sizes:
                    x = torch.randn(size)
                    torch.testing.assert_close(made(x), net(x), rtol=1e-4, atol=1e-4)

    def test_the_same_graph_with_other_arguments(self):
        net, ids = Attention().eval(), torch.randint(0, 50, (2, 9))
        made = self.compiled(net)
        with torch.no_grad():
            want = net(ids)["logits"]
            for given in (ids, ids.t().contiguous().t()):  # its strides come as numbers, too
                got = made(given)["logits"]
                torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)

    def losses(self, net, called, x):
        steps = torch.optim.SGD(net.parameters(), 0.01)
        seen = []
        for _ in range(3):
            steps.zero_grad()
            loss = called(x).square().mean()
            loss.backward()
            steps.step()
            seen.append(loss.item())
        return seen

    def test_trains(self):
        strided = nn.Sequential(nn.Conv2d(3, 4, (3, 2), stride=2, padding=1, dilation=(1, 2)),
                                nn.Tanh())
        for ours, x in ((dense(), torch.ones(4, 8)), (picture(), torch.randn(4, 3, 16, 16)),
                        (strided, torch.randn(2, 3, 12, 11))):
            torch._dynamo.reset()
            theirs = copy.deepcopy(ours)
            got = self.losses(ours, self.compiled(ours), x)
            want = self.losses(theirs, theirs, x)
            torch.testing.assert_close(torch.tensor(got), torch.tensor(want), rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(ours.state_dict(), theirs.state_dict(), rtol=1e-3, atol=1e-4)

    def test_statistics_of_training(self):
        ours = picture().train()
        theirs = copy.deepcopy(ours)
        x = torch.randn(4, 3, 16, 16)
        with torch.no_grad():
            torch.testing.assert_close(self.compiled(ours)(x), theirs(x), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(ours.state_dict(), theirs.state_dict())

    def test_weights_may_change(self):
        net = dense().eval()
        made = self.compiled(net)
        x = torch.randn(2, 8)
        with torch.no_grad():
            made(x)
            net[0].weight.mul_(2)
            torch.testing.assert_close(made(x), net(x), rtol=1e-4, atol=1e-4)

    def test_tunes_and_keeps(self):
        db = os.path.join(self.folder, "tuned.db")
        self.same(dense().eval(), torch.randn(2, 8), db=db, trials=6, threads=1)
        self.assertGreater(len(hone.Database(db)), 0)
        kept = sorted(os.listdir(self.options["cache"]))
        hone.dynamo._loaded.clear()
        torch._dynamo.reset()
        self.same(dense().eval(), torch.randn(2, 8), db=db, threads=1)
        self.assertEqual(sorted(os.listdir(self.options["cache"])), kept)

    def test_keeps_machines_apart(self):
        module, options = hone.load(product), hone.dynamo.Options()
        mine = hone.dynamo._key(module, options, None)
        with unittest.mock.patch.object(hone.dynamo, "describe_target", return_value="another one"):
            self.assertNotEqual(hone.dynamo._key(module, options, None), mine)

    def test_numbers_that_are_no_sizes(self):
        def turned(x, n):
            return x.roll(n, 0) * n

        made = self.compiled(turned)
        with torch.no_grad():
            for n in (1, 2, 3, 2):
                x = torch.randn(6, 2)
                self.assertTrue(torch.allclose(made(x, n), turned(x, n)))

    def test_leaves_to_torch(self):
        def draws(x):
            return F.dropout(x, 0.5, True)

        x = torch.randn(64, 64)
        with torch.no_grad(), self.assertWarnsRegex(RuntimeWarning, "random numbers"):
            self.assertEqual(self.compiled(draws, fallback=True)(x).shape, x.shape)
        torch._dynamo.reset()
        with torch.no_grad(), self.assertRaisesRegex(Exception, "random numbers"):
            self.compiled(draws)(x)

    def test_wrong_graphs_are_noticed(self):
        convert = hone.dynamo._graphs.export

        def wrong(graph, inputs, *rest):
            if isinstance(graph, torch.fx.GraphModule):
                graph = torch.fx.symbolic_trace(lambda x: (x * 3,))
            return convert(graph, inputs, *rest)

        with unittest.mock.patch.object(hone.dynamo._graphs, "export", wrong), torch.no_grad():
            x = torch.ones(2, 3)
            with self.assertWarnsRegex(RuntimeWarning, "is not the same"):
                made = self.compiled(lambda x: x * 2, fallback=True)
                self.assertTrue(torch.equal(made(x), x * 2))
            self.assertTrue(torch.equal(made(x), x * 2))

    def test_mistakes(self):
        for options, words in (({"database": "x"}, "no option 'database'"),
                               ({"trials": 3}, "give db")):
            torch._dynamo.reset()
            with self.assertRaisesRegex(Exception, words):
                torch.compile(lambda x: x + 1, backend="hone", options=options)(torch.ones(2))


if __name__ == "__main__":
    warnings.simplefilter("error", RuntimeWarning)
    unittest.main()
