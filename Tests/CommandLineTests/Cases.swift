/// Files that came with reports of faults.
enum Cases {
    /// A belt that `import` made of a capture.
    static let capturedBelt = """
        # From Devices/Captures/belt.btsnoop: btsnoop, 289 records
        # link 1: from 2s220ms to 2s800ms, interval 15.0ms, MTU 64, 7 notifications; ended here: remote user terminated the connection (0x13)
        # link 2: from 3s123ms to 5s150ms, interval 15.0ms, MTU 23, 7 notifications; ended here: remote user terminated the connection (0x13)
        device: bluetooth-peripheral
        name: "Belt & Co"
        address: "F0:11:22:33:44:55"
        advertising:
          interval: 96ms
          services: ["180D"]
          manufacturer-data: "ffff0102"
          rssi: -50
        mtu: 64
        gatt:
          - service: "180D"
            characteristics:
              - uuid: "2A37"
                properties: [notify]
                notifications:
                  - recorded: |
                      101.552ms 0048
                      50.968ms 0049
                      50.919ms 004a
                      51.053ms 004b
                      301.141ms 100000
                      16.292ms 100001
                      25.025ms 100002
                      20.849ms 100003
                      20.788ms 100004
                      20.852ms 100005
                      20.901ms 100006
                      20.857ms 100007
              - uuid: "2A38"
                properties: [read]
                value: "01"
              - uuid: "2A39"
                properties: [write]
          - service: "180A"
            characteristics:
              - uuid: "2A24"
                properties: [read]
                value: "42656c74206d6f64656c203132332c2061206e616d65206c6f6e676572207468616e206f6e65207061636b65742063616e20686f6c64"
          - service: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"
            characteristics:
              - uuid: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E"
                properties: [write-without-response, write]
              - uuid: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"
                properties: [indicate]
                notifications:
                  - recorded: |
                      30.846ms 68656c6c6f
                      202.12ms 776f726c64
                descriptors:
                  - {uuid: "2901", value: ""}

        """

    /// An app that is relaunched once, and is expected to be twice. Its device is `my-belt.yaml`.
    static let beltTwice = """
        scenario: belt-twice
        devices:
          - {file: my-belt.yaml, name: belt}
        apps:
          - scripted: com.example.pulse
            name: pulse
            modes: [bluetooth-central]
            restore-identifier: central
            uses: [{device: belt, characteristic: 2A37}]
        steps:
          - {at: 0, launch: pulse}
          - {at: 2s, home: pulse}
          - {at: 1m, notify: belt, characteristic: 2A37, value: "0051"}
          - {at: 2m, terminate: pulse, cause: memory}
          - {at: 3m, notify: belt, characteristic: 2A37, value: "0052"}
          - {at: 4m, force-quit: pulse}
          - {at: 5m, notify: belt, characteristic: 2A37, value: "0053"}
        expect:
          - {app: pulse, verdict: relaunch, count: 2}

        """

    /// A pillbox with a control point, a log, a passkey and a battery.
    static let pillbox = """
        device: bluetooth-peripheral
        name: Pillbox 7
        address: "F0:9A:00:00:00:07"
        advertising:
          interval: 152.5ms
          services: [A1B20001-5C3D-4E6F-8A9B-0C1D2E3F4A5B]
          tx-power: 0
          rssi: -62
        mtu: 185
        connection: {interval: 30ms, latency: 4, supervision-timeout: 6s}
        pairing: passkey 123456
        states: [closed, open]
        variables: {pills: 7, opened: 0}
        records:
          intakes:
            number: {at: 0, width: 2, order: big}
            values: ["0001 08", "0002 0c", "0003 14"]
        gatt:
          - service: 180A
            characteristics:
              - {uuid: 2A29, properties: [read], value: "50696c6c"}
              - {uuid: 2A24, properties: [read], value: "5042"}
              - {uuid: 2A26, properties: [read], value: "312e30"}
              - {uuid: 2A28, properties: [read], value: "312e30"}
          - service: 180F
            characteristics:
              - uuid: 2A19
                properties: [read, notify]
                value: "63"
                notifications:
                  - {after: 2h, counter: {from: 98, count: 3, every: 2h, width: 1, prefix: ""}}
          - service: A1B20001-5C3D-4E6F-8A9B-0C1D2E3F4A5B     # lid
            characteristics:
              - uuid: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B    # lid state
                properties: [read, notify]
                security: encrypted
                value: "00"
              - uuid: A1B20003-5C3D-4E6F-8A9B-0C1D2E3F4A5B    # control point
                properties: [write, indicate]
                security: authenticated
                answers:
                  - write: "01"               # open
                    if: {state: closed, pills: {from: 1, to: 100}}
                    do:
                      - state: open
                      - {variable: opened, add: 1}
                      - {variable: pills, add: -1}
                      - {indicate: ["80 01 01", {variable: pills, width: 1}]}
                      - {notify: "01", on: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, after: 500ms}
                      - {state: closed, after: 5s}
                      - {notify: "00", on: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B}
                  - write: "01"
                    if: {state: open}
                    do: [{error: procedure-already-in-progress}]
                  - write: "02"               # count of intakes
                    do:
                      - {count: intakes, into: opened}
                      - {indicate: ["80 02 01", {variable: opened, width: 2, order: big}]}
                  - write: any
                    do: [{indicate: ["80", {request: 0, count: 1}, "02"]}]
          - service: A1B21001-5C3D-4E6F-8A9B-0C1D2E3F4A5B     # log
            characteristics:
              - uuid: A1B21002-5C3D-4E6F-8A9B-0C1D2E3F4A5B
                properties: [notify]
                security: encrypted
              - uuid: A1B21003-5C3D-4E6F-8A9B-0C1D2E3F4A5B
                properties: [write, indicate]
                security: encrypted
                answers:
                  - write: "10"
                    if: {subscribed: A1B21002-5C3D-4E6F-8A9B-0C1D2E3F4A5B}
                    do:
                      - {report: intakes, on: A1B21002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, every: 40ms, with: notify}
                      - {indicate: "80 10 01"}
                  - write: any
                    do: [{error: cccd-improperly-configured}]
        faults:
          - {name: battery-out, no-answer: 30s}
          - {name: firmware, change-services: {remove: [A1B21001-5C3D-4E6F-8A9B-0C1D2E3F4A5B]}}

        """

    /// A day of the pillbox, `pillbox.yaml`, with an expectation that is not met.
    static let pillFails = """
        scenario: pill-fails
        profile: ios17
        devices:
          - {file: pillbox.yaml, name: pillbox}
        apps:
          - scripted: com.pills.reminder
            name: pills
            modes: [bluetooth-central]
            restore-identifier: central
            uses:
              - device: pillbox
                characteristic: [2A19, A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, A1B20003-5C3D-4E6F-8A9B-0C1D2E3F4A5B, A1B21002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, A1B21003-5C3D-4E6F-8A9B-0C1D2E3F4A5B]
                script:
                  - {write: A1B20003-5C3D-4E6F-8A9B-0C1D2E3F4A5B, value: "01"}
                  - {await: A1B20003-5C3D-4E6F-8A9B-0C1D2E3F4A5B, count: 1, within: 10s}
                  - {await: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, count: 2, within: 30s}
                  - {write: A1B21003-5C3D-4E6F-8A9B-0C1D2E3F4A5B, value: "10"}
                  - {await: A1B21002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, count: 3, within: 10s}
            notifications:
              schedule:
                - {id: morning, title: Pill, body: Take it, time: "08:00"}
        steps:
          - {at: 0, launch: pills}
          - {at: 30s, home: pills}
          - {at: 3h, phone: lock}
          - {at: 7h, terminate: pills, cause: memory}
          - {at: 8h30m, notify: pillbox, characteristic: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, value: "01"}
          - {at: 9h, out-of-range: pillbox}
          - {at: 12h, in-range: pillbox}
          - {at: 13h, notify: pillbox, characteristic: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, value: "01"}
          - {at: 18h, force-quit: pills}
          - {at: 20h, notify: pillbox, characteristic: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, value: "01"}
        expect:
          - {app: pills, verdict: resume, at-least: 1}
          - {app: pills, verdict: relaunch, count: 2}
        until: 24h

        """

    /// A step that waits in vain for an app that nothing wakes.
    static let pillWaits = """
        scenario: pill-waits
        devices:
          - {file: pillbox.yaml, name: pillbox}
        apps:
          - scripted: com.pills.reminder
            name: pills
        steps:
          - {at: 0, launch: pills}
          - {when: {app: pills, verdict: resume}, within: 20s, note: never}

        """

    /// A scenario of the pillbox with three mistakes.
    static let threeErrors = """
        scenario: pill-two
        profile: ios17
        devices:
          - {file: pillbox.yaml, name: pillbox}
        apps:
          - scripted: com.pills.reminder
            name: pills
            modes: [bluetooth-central]
            restore-identifer: central
            uses:
              - device: pillbox
                characteristic: [2A19, A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, A1B20003-5C3D-4E6F-8A9B-0C1D2E3F4A5B, A1B21002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, A1B21003-5C3D-4E6F-8A9B-0C1D2E3F4A5B]
                script:
                  - {write: A1B20003-5C3D-4E6F-8A9B-0C1D2E3F4A5B, value: "0"}
                  - {await: A1B20003-5C3D-4E6F-8A9B-0C1D2E3F4A5B, count: 1, within: 10s}
                  - {await: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, count: 2, within: 30s}
                  - {write: A1B21003-5C3D-4E6F-8A9B-0C1D2E3F4A5B, value: "10"}
                  - {await: A1B21002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, count: 3, within: 10s}
            notifications:
              schedule:
                - {id: morning, title: Pill, body: Take it, time: "08:00"}
        steps:
          - {at: 0, launch: pills}
          - {at: 30s, home: pills}
          - {at: 3h, phone: lock}
          - {at: 7x, terminate: pills, cause: memory}
          - {at: 8h30m, notify: pillbox, characteristic: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, value: "0"}
          - {at: 9h, out-of-range: pillbox}
          - {at: 12h, in-range: pillbox}
          - {at: 13h, notify: pillbox, characteristic: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, value: "0"}
          - {at: 18h, force-quit: pills}
          - {at: 20h, notify: pillbox, characteristic: A1B20002-5C3D-4E6F-8A9B-0C1D2E3F4A5B, value: "0"}
        expect:
          - {app: pills, verdict: resume, at-least: 1}
          - {app: pills, verdict: relaunch, count: 1}
        until: 24h

        """

    /// A pulse that a belt wakes, for a phone that is commanded. Its device is `belt.yaml`.
    static let swipedPulse = """
        scenario: pulse
        devices: [{file: belt.yaml, name: belt}]
        apps:
          - scripted: com.example.pulse
            name: pulse
            modes: [bluetooth-central]
            restore-identifier: central
            uses: [{device: belt, characteristic: 2A37}]
        steps: [{at: 0, launch: pulse}, {at: 5s, home: pulse}]

        """
}
