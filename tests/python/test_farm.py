"""A farm seen through its tracker."""
import os
import re
import subprocess
import unittest

import hone


class Farms(unittest.TestCase):
    def test_status(self):
        words = [os.environ["HONE"], "tracker", "--listen", "tcp://127.0.0.1:*", "--insecure"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as tracker:
            try:
                self.look(tracker.stdout)
            finally:
                tracker.terminate()

    def look(self, said):
        address = None
        while not address:
            line = said.readline()
            self.assertTrue(line, "the tracker ended")
            address = re.search(r"tcp://127\.0\.0\.1:\d+", line)
        farm = hone.Farm(address.group(), insecure=True)
        self.assertEqual((farm.devices(), farm.tuners()), ([], []))
        self.assertEqual(farm.status()["waiting"], 0)

    def test_mistakes(self):
        with self.assertRaisesRegex(hone.InvalidError, "nowhere"):
            hone.Farm("nowhere").status()
        with self.assertRaisesRegex(hone.InvalidError, "--key FILE"):
            hone.Farm("tcp://127.0.0.1:9190").status()


if __name__ == "__main__":
    unittest.main()
