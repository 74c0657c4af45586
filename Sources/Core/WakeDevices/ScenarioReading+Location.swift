import WakeModel

/// What a step does to where the phone is, and to what apps may know of it.
extension ScenarioReading {
    static var locationVerbs: [StepVerb] {
        [
            StepVerb("enter", ScenarioReading.cross), StepVerb("exit", ScenarioReading.cross),
            StepVerb("position", ScenarioReading.position),
            StepVerb("play", ScenarioReading.play), StepVerb("arrive", ScenarioReading.visit),
            StepVerb("depart", ScenarioReading.visit),
        ]
    }

    private func cross(_ step: StepEntry) throws(FileError) -> Verb {
        .cross(region: try step.value.text(expecting: "the identifier of a region"), inwards: step.word == "enter")
    }

    private func position(_ step: StepEntry) throws(FileError) -> Verb {
        let fields = try Fields(step.value, of: "a position", keys: ["latitude", "longitude", "accuracy"])
        let accuracy = try fields["accuracy"]?.metres(in: 0...100_000) ?? 5
        return .position(try Coordinate(fields), accuracy: accuracy)
    }

    private func play(_ step: StepEntry) throws(FileError) -> Verb {
        let found = try devices(step, of: LocationTrack.self)
        guard found.count == 1 else {
            throw step.value.error(expected: "the name of one device of kind \(LocationTrack.kind)")
        }
        return .play(device: found[0].position)
    }

    private func visit(_ step: StepEntry) throws(FileError) -> Verb {
        let fields = try Fields(step.value, of: "a place", keys: ["latitude", "longitude"])
        return .visit(try Coordinate(fields), departs: step.word == "depart")
    }

    static func location(_ answer: YAMLNode, _ apps: [Int]) throws(FileError) -> Verb {
        let authorization = try answer.authorization()
        return authorization == .allowOnce ? .user(apps: apps, .allowOnce) : .authorize(apps: apps, authorization)
    }

    static func backgroundLocation(_ answer: YAMLNode, _ apps: [Int]) throws(FileError) -> Verb {
        .user(apps: apps, try UserAction(backgroundLocation: answer))
    }

    static func preciseLocation(_ answer: YAMLNode, _ apps: [Int]) throws(FileError) -> Verb {
        .user(apps: apps, try UserAction(preciseLocation: answer))
    }
}

extension UserAction {
    /// Reads what the user answers at the first event in the background (LOC-10).
    init(backgroundLocation node: YAMLNode) throws(FileError) {
        let answers: [UserAction] = [.allowAlways, .keepWhenInUse]
        self = try node.word("answer", of: answers) { answer in
            (answer == .allowAlways ? LocationAuthorization.always : .whenInUse).word
        }
    }

    /// Reads whether the user lets an app know the precise position (LOC-11).
    init(preciseLocation node: YAMLNode) throws(FileError) {
        let answers: [UserAction] = [.allowPrecise, .refusePrecise]
        self = try node.word("answer", of: answers) { $0 == .allowPrecise ? "allowed" : "denied" }
    }
}

extension YAMLNode {
    /// What the user has answered an app that asks for the position.
    func authorization() throws(FileError) -> LocationAuthorization {
        try word("authorization", of: LocationAuthorization.sayable, \.word)
    }
}

extension Coordinate {
    /// Reads the keys `latitude` and `longitude`.
    init(_ fields: Fields, _ what: (latitude: String, longitude: String) = ("degrees", "degrees")) throws(FileError) {
        self.init(
            latitude: try fields.required("latitude").number(in: -90...90, what.latitude),
            longitude: try fields.required("longitude").number(in: -180...180, what.longitude)
        )
    }
}

extension ScenarioDevice {
    /// The track that it is; nil for a device of another kind.
    package var track: LocationTrack? { form.device as? LocationTrack }
}
