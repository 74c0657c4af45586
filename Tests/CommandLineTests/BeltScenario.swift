extension Scenarios {
    /// A belt that notifies every 30 s, as a device file.
    static let belt = """
        device: bluetooth-peripheral
        address: "F0:11:22:33:44:55"
        advertising: {services: [180D]}
        gatt:
          - service: 180D
            characteristics:
              - uuid: 2A37
                properties: [notify]
                notifications: [{after: 2s, values: ["0048"]}, {after: 30s, counter: {count: 100, every: 30s, width: 1}}]

        """

    /// An app that connects to the belt, until the given time.
    static func connecting(until: String) -> String {
        """
        scenario: connecting
        devices: [{file: belt.yaml, name: belt}]
        apps:
          - scripted: com.acme.heart
            name: heart
            modes: [bluetooth-central]
            uses: [{device: belt, characteristic: 2A37}]
        steps: [{at: 0, launch: heart}]
        until: \(until)

        """
    }
}
