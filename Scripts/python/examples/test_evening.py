"""A phone that the test drives: `pytest Scripts/python/examples`."""

EVENING = """
scenario: evening
devices: [{file: belt.yaml, name: belt}]
apps:
  - scripted: com.example.pulse
    name: pulse
    modes: [bluetooth-central]
    restore-identifier: central
    uses: [{device: belt, characteristic: 2A37}]
"""


def test_the_belt_wakes_the_app(wakebench_phone):
    phone = wakebench_phone(EVENING, clock="virtual")
    pulse, belt = phone.app("pulse"), phone.device("belt")
    pulse.launch()
    phone.advance("5s")
    pulse.home()
    phone.advance("30s")
    assert pulse.state == "suspended"
    belt.notify("2A37", b"\x00\x49").expect(app="pulse", verdict="resume")
