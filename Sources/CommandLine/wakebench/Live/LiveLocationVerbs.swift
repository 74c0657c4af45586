import WakeBench
import WakeJSON

/// The verbs about where a running phone is, and about what its apps may know of it.
extension LiveWorldVerbs {
    static let placeVerbs = [
        LiveVerb.step(
            "location set",
            "LATITUDE,LONGITUDE",
            "the phone is at a place, and stays there",
            options: [.value("--accuracy", "METRES", "default 5")]
        ) { arguments throws(CommandFailure) in
            var place = try arguments.coordinate(0)
            if let text = arguments.value("--accuracy") { place.append(.init("accuracy", text)) }
            return [.init("position", .object(place))]
        },
        device("location play", "play", "TRACK", "the phone begins a track of its scenario"),
        LiveVerb.step("location enter", "REGION", "the phone enters every region of that name, wherever it is") {
            [.init("enter", $0.rest[0])]
        },
        LiveVerb.step("location exit", "REGION", "the phone leaves every region of that name, wherever it is") {
            [.init("exit", $0.rest[0])]
        },
        LiveVerb.step("location arrive", "LATITUDE,LONGITUDE", "a visit to a place begins") {
            arguments throws(CommandFailure) in [.init("arrive", .object(try arguments.coordinate(0)))]
        },
        LiveVerb.step("location depart", "LATITUDE,LONGITUDE", "a visit to a place ends") {
            arguments throws(CommandFailure) in [.init("depart", .object(try arguments.coordinate(0)))]
        },
    ]

    private static let permissions = [
        "location", "background-location", "precise-location", "notifications", "microphone", "background-refresh",
    ]

    static let permissionVerbs = [
        LiveVerb.step(
            "perm set",
            "APP WHAT ANSWER",
            "the user decides about " + permissions.joined(separator: ", ") + " of an app"
        ) { arguments throws(CommandFailure) in
            let what = try arguments.word(1, "permission", of: permissions)
            return [.init("authorize", arguments.rest[0]), .init(what, arguments.rest[2])]
        }
    ]
}
