import WakeJSON
import WakeModel
import WakeReports
import WakeScreen

/// What keys of the terminal view do to the phone, app or device that is chosen.
struct TopKey: Sendable {
    let key: Screen.Key
    /// As the help names it.
    let name: String
    let help: String
    /// What the daemon is asked for; nil where nothing is chosen that it could be done to.
    let request: @Sendable (TopModel) -> Request?

    struct Request {
        var op: String
        var members: LiveCall.Members
        /// What the footer says of it.
        var text: String
    }

    static let all: [TopKey] = [
        app(.enter, "Enter", "launch the app") { [.init("launch", $0.name)] },
        app(.character("h"), "h", "the user goes to the home screen") { [.init("home", $0.name)] },
        app(.character("f"), "f", "the user swipes the app away (force-quit)") { [.init("force-quit", $0.name)] },
        app(.character("m"), "m", "the system ends the app's process for its memory") {
            [.init("terminate", $0.name), .init("cause", "memory")]
        },
        device(.character("n"), "n", "the device notifies the value that it has") { device in
            device.notifies.map { notifies in
                [
                    .init("notify", device.name), .init("characteristic", notifies.characteristic),
                    .init("value", notifies.value),
                ]
            }
        },
        device(.character("d"), "d", "the device drops its link") { [.init("disconnect", $0.name)] },
        device(.character("r"), "r", "the device leaves the phone's reach, or comes back") {
            [.init($0.isInRange == false ? "in-range" : "out-of-range", $0.name)]
        },
        TopKey(key: .character("l"), name: "l", help: "lock the phone, or unlock it") { model in
            booted(model).map { phone in step([.init("phone", phone.isLocked ? "unlock" : "lock")], of: phone) }
        },
        TopKey(key: .character("R"), name: "R", help: "reboot the phone") { model in
            booted(model).map { step([.init("phone", "reboot")], of: $0) }
        },
        TopKey(key: .character("b"), name: "b", help: "boot the phone, or shut it down") { model in
            model.chosenPhone.map { phone in
                let op = phone.isBooted ? "shutdown" : "boot"
                return Request(op: op, members: [.init("phone", phone.name)], text: "\(op) \(phone.name)")
            }
        },
        TopKey(key: .character("a"), name: "a", help: "a virtual phone's clock goes on by a minute") { model in
            guard let phone = booted(model), phone.clock == "virtual", let at = phone.at else { return nil }
            let target = at.advanced(by: .init(nanoseconds: 60_000_000_000)).nanoseconds
            return command(
                .init("advance", .integer(target)),
                of: phone,
                "advance to \(LogTime.shortText(.init(nanoseconds: target)))"
            )
        },
    ]

    private static func booted(_ model: TopModel) -> TopPhone? { model.chosenPhone.flatMap { $0.isBooted ? $0 : nil } }

    private static func app(
        _ key: Screen.Key,
        _ name: String,
        _ help: String,
        _ members: @escaping @Sendable (TopApp) -> LiveCall.Members
    ) -> TopKey {
        TopKey(key: key, name: name, help: help) { model in
            guard let phone = booted(model), let app = model.chosenApp else { return nil }
            return step(members(app), of: phone)
        }
    }

    private static func device(
        _ key: Screen.Key,
        _ name: String,
        _ help: String,
        _ members: @escaping @Sendable (TopDevice) -> LiveCall.Members?
    ) -> TopKey {
        TopKey(key: key, name: name, help: help) { model in
            guard let phone = booted(model), let members = model.chosenDevice.flatMap(members) else { return nil }
            return step(members, of: phone)
        }
    }

    private static func step(_ members: LiveCall.Members, of phone: TopPhone) -> Request {
        let words = members.map { "\($0.key) \($0.value.string ?? "")" }.joined(separator: ", ")
        return command(.init("step", .object(members)), of: phone, words)
    }

    private static func command(_ command: JSONValue.Member, of phone: TopPhone, _ text: String) -> Request {
        let members: LiveCall.Members = [
            .init("phone", phone.name), .init("wait", .bool(false)), .init("command", .object([command])),
        ]
        return Request(op: "do", members: members, text: text)
    }

    /// The lines of the help.
    static let help: [String] =
        [
            "Tab          the next list: phones, apps, devices",
            "Up, Down     move in it; what is chosen is what keys act on",
            "PgUp, PgDn   scroll in what happened; End follows it again",
            "w            why: how the chosen app stands, and why",
            "q, Ctrl-C    quit; the daemon and its phones go on",
        ] + all.map { $0.name.padded(to: 12) + " " + $0.help }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
