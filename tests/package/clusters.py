#!/usr/bin/env python3
"""usage: clusters.py SOURCE_DIR BIN_DIR

The files of packages/clusters: what they have hone do is what hone knows (every option of every
command, every number of the board); alerts by promtool and Kubernetes' own schema by
kubernetes-validate, where these are installed. Exit 77: no yaml.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

try:
    import yaml
except ImportError:
    print("there is no yaml for Python")
    sys.exit(77)

source, bin_dir = sys.argv[1:3]
clusters = os.path.join(source, "packages", "clusters")
failures = []


def expect(condition, *message):
    if not condition:
        failures.append(" ".join(message))


def help_of(program, *verbs):
    run = subprocess.run([os.path.join(bin_dir, program), *verbs, "--help"], capture_output=True, text=True)
    expect(run.returncode == 0, program, *verbs, "--help failed")
    return run.stdout


def check_command(where, words):
    """The options of a command line are in the help of its program."""
    program = os.path.basename(words[0])
    verbs = [word for word in words[1:2] if program == "hone"]
    known = set(re.findall(r"--[a-z][a-z-]*", help_of(program, *verbs)))
    for word in words:
        if word.startswith("--"):
            expect(word.split("=")[0] in known, where + ":", program, "knows no", word)


def containers(document):
    spec = document.get("spec", {}).get("template", {}).get("spec", {})
    return spec.get("containers", [])


def check_kubernetes(path):
    with open(path, encoding="utf-8") as file:
        documents = list(yaml.safe_load_all(file))
    expect(bool(documents), path, "is empty")
    for document in documents:
        for container in containers(document):
            check_command(path, [container["image"], *container["args"]])
            for probe in ("readinessProbe", "livenessProbe"):
                command = container.get(probe, {}).get("exec", {}).get("command")
                if command:
                    check_command(path, command)
            secured = container["securityContext"]
            expect(secured["readOnlyRootFilesystem"] and not secured["allowPrivilegeEscalation"],
                   path, "is not held")
    try:
        subprocess.run(["kubernetes-validate", "--strict", path], check=True, capture_output=True)
    except FileNotFoundError:
        print("no kubernetes-validate: the schema of", os.path.basename(path), "is not checked")
    except subprocess.CalledProcessError as error:
        expect(False, path, (error.stdout + error.stderr).decode())


def check_slurm(path):
    with open(path, encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    for line in text.splitlines():
        found = re.match(r"(?:exec )?(hone(?:-runner)?) (.*)", line)
        if found:
            check_command(path, [found.group(1), *found.group(2).replace("&", "").split()])


def numbers_of_a_tracker():
    """The names on the page of a tracker that has just started."""
    address = "127.0.0.1:19391"
    tracker = subprocess.Popen([os.path.join(bin_dir, "hone"), "tracker", "--insecure", "-q",
                                "--listen", "tcp://127.0.0.1:*", "--metrics", address],
                               stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                with urllib.request.urlopen("http://%s/metrics" % address, timeout=5) as page:
                    return set(re.findall(r"^# TYPE (\S+)", page.read().decode(), re.M))
            except OSError:
                time.sleep(0.1)
    finally:
        tracker.terminate()
        tracker.wait()
    return set()


def check_numbers():
    known = numbers_of_a_tracker()
    expect(bool(known), "a tracker shows no numbers")
    texts = [os.path.join(clusters, "grafana", name) for name in ("board.json", "hone-alerts.yml")]
    texts.append(os.path.join(clusters, "kubernetes", "autoscale.yaml"))
    for path in texts:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if path.endswith(".json"):
            json.loads(text)
        for name in re.findall(r"\bhone_[a-z_]+", text):
            expect(name in known, path, "asks for", name)


def check_alerts():
    """By promtool, where it is."""
    if not shutil.which("promtool"):
        return
    with tempfile.TemporaryDirectory() as here:
        shutil.copy(os.path.join(clusters, "grafana", "hone-alerts.yml"), here)
        rules = shutil.copy(os.path.join(os.path.dirname(__file__), "alerts_test.yml"), here)
        done = subprocess.run(["promtool", "test", "rules", rules], capture_output=True, text=True,
                              check=False)
        expect(done.returncode == 0, "hone-alerts.yml:", done.stdout + done.stderr)


for path in sorted(glob.glob(os.path.join(clusters, "kubernetes", "*.yaml"))):
    check_kubernetes(path)
for path in sorted(glob.glob(os.path.join(clusters, "slurm", "*.sbatch"))):
    check_slurm(path)
check_numbers()
check_alerts()
print("\n".join(failures))
sys.exit(bool(failures))
