"""A farm seen through its tracker, and tuned on."""
import contextlib
import os
import re
import subprocess
import tempfile
import unittest

import hone

from programs import product


@contextlib.contextmanager
def running(*words):
    """A program, ended behind the block."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as program:
        try:
            yield program.stdout
        finally:
            program.terminate()


class Farms(unittest.TestCase):
    @contextlib.contextmanager
    def farm(self):
        with running(os.environ["HONE"], "tracker", "--listen", "tcp://127.0.0.1:*",
                     "--insecure") as said:
            address = None
            while not address:
                line = said.readline()
                self.assertTrue(line, "the tracker ended")
                address = re.search(r"tcp://127\.0\.0\.1:\d+", line)
            yield hone.Farm(address.group(), insecure=True)

    def test_status(self):
        with self.farm() as farm:
            self.assertEqual((farm.devices(), farm.tuners()), ([], []))
            self.assertEqual(farm.status()["waiting"], 0)

    def test_tunes(self):
        runner = os.path.join(os.path.dirname(os.environ["HONE"]), "hone-runner")
        with tempfile.TemporaryDirectory() as folder, self.farm() as farm:
            db = os.path.join(folder, "farm.db")
            with running(runner, "--tracker", farm.tracker, "--insecure", "--name", "one",
                         "--device-key", "desk", "--cache", folder):
                tuned = hone.load(product).tune(db, trials=6, threads=1, strategy="random",
                                                tracker=farm, device_key="desk")
            self.assertEqual((tuned.trials, tuned.failed), (6, 0))
            devices = hone.Database(db).query("SELECT DISTINCT device FROM v_trials")
            self.assertTrue(any("one" in str(row["device"]) for row in devices), devices)
            with self.assertRaises(hone.UnavailableError):
                hone.load(product).tune(db, trials=6, threads=1, tracker=farm, device_key="none",
                                        waits_for_devices=False)

    def test_mistakes(self):
        with self.assertRaisesRegex(hone.InvalidError, "nowhere"):
            hone.Farm("nowhere").status()
        with self.assertRaisesRegex(hone.InvalidError, "--key FILE"):
            hone.Farm("tcp://127.0.0.1:9190").status()
        with self.assertRaisesRegex(hone.InvalidError, "key is NULL"):
            hone.load(product).tune("/nowhere/a.db", trials=1, tracker="tcp://127.0.0.1:9190")


if __name__ == "__main__":
    unittest.main()
