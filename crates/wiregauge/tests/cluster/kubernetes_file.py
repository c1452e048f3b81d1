"""Holds examples/cluster/kubernetes.yaml against the schemas of Kubernetes, without a cluster."""

import tomllib

import kubernetes_validate
import yaml

#: The oldest one whose schemas are there, a later one, and the newest.
RELEASES = ("1.25", "1.31", "1.37")


def validate_file(folder):
    """No field is unknown, and the names in the file fit each other, the scenario, and the commands
    in the file's head."""
    text = (folder / "kubernetes.yaml").read_text()
    service, job = yaml.safe_load_all(text)
    for release in RELEASES:
        for document in (service, job):
            kubernetes_validate.validate(document, release, strict=True)

    spec, name = job["spec"], job["metadata"]["name"]
    scenario = tomllib.loads((folder / "bus.toml").read_text())
    participants = sum(one.get("count", 1) for one in scenario["participant"])
    assert spec["completions"] == spec["parallelism"] == participants, spec
    # Pods of a job have its name as a label, and the name and the index as their host's name.
    pod = spec["template"]["spec"]
    assert service["spec"]["selector"] == {"job-name": name}, service
    assert pod["subdomain"] == service["metadata"]["name"], pod
    (spread,) = pod["topologySpreadConstraints"]
    assert spread["labelSelector"]["matchLabels"] == {"job-name": name}, spread
    (container,) = pod["containers"]
    assert f"--peer={name}-0.{pod['subdomain']}" in container["args"], container

    (key,) = container["env"]
    secret = key["valueFrom"]["secretKeyRef"]
    assert key["name"] == "WIREGAUGE_KEY"
    assert f"create secret generic {secret['name']} --from-literal={secret['key']}=" in text
    (volume,), (mount,) = pod["volumes"], container["volumeMounts"]
    assert f"create configmap {volume['configMap']['name']} --from-file=bus.toml" in text
    assert volume["name"] == mount["name"], mount
    assert f"--scenario={mount['mountPath']}/bus.toml" in container["args"], container
    assert f"--selector job-name={name} " in text and f"--container {container['name']} " in text
