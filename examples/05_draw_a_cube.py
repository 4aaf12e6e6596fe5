"""Draw all twelve edges of a cube, as the command does, and look into the evidence."""

from tempfile import TemporaryDirectory

import forearm

with TemporaryDirectory() as folder:
    record = forearm.run("cube", edge_seconds=0.5, out=folder)
    print(record.outcome, f"- {record.value('edges_drawn')} edges")
    print(f"error {record.value('rms_error_m'):.1e} m RMS, {record.value('max_error_m'):.1e} m at most")

    # Noise of 1 mm at the tip, readings 10 ms late, 5 % more mass than the controller believes.
    harder = forearm.run(
        "cube", edge_seconds=0.5, out=folder, perturb={"noise": 1e-3, "delay": 0.01, "payload": 0.05}
    )
    print(harder.outcome, f"- {harder.value('rms_error_m') * 1e3:.2f} mm RMS")
