import Testing
@testable import WakeALSA
import WakeDevices
import WakeModel
@testable import WakeUdev
@testable import WakeAudio

@Suite("The way of sound through sound cards")
struct CardRoutesTests {
    private let builtIn = SoundCard(index: 0, identifier: "PCH", name: "HDA Intel", hasPlayback: true, hasCapture: true)
    private let headset = SoundCard(index: 1, identifier: "Set", name: "Headset", hasPlayback: true, hasCapture: true)

    private var stick: SoundCard {
        var card = SoundCard(index: 2, identifier: "Stick", name: "USB Audio", hasPlayback: true, hasCapture: false)
        card.device = UdevDevice(systemPath: "/sys/devices/pci/usb1/1-1/sound/card2", subsystem: "sound")
        return card
    }

    private func routes(_ cards: [SoundCard]) throws -> CardRoutes {
        let text = """
            device: audio-device
            name: Headset
            output: headphones
            input: headset-microphone
            card: Set

            """
        let device = try AudioDevice.parse(Array(text.utf8), file: "headset.yaml")
        return CardRoutes(
            speaker: "default",
            microphone: "hw:PCH,1",
            devices: [(name: "headset", device: device)],
            cards: cards
        )
    }

    @Test("The phone itself plays and hears on the cards that the run was given")
    func builtInRoute() throws {
        let routes = try routes([builtIn])
        #expect(routes.route == .builtIn)
        #expect(routes.outputName == "default")
        #expect(routes.inputName == "hw:PCH,1")
    }

    @Test("A device of the scenario plays and hears from when its card comes to when it goes")
    func known() throws {
        var routes = try routes([builtIn])
        let came = routes.see([builtIn, headset])
        #expect(came.map(\.reason) == [.newDeviceAvailable])
        #expect(came.map(\.device) == ["headset"])
        #expect(routes.route.output == AudioRoute.End(.headphones, name: "Headset"))
        #expect(routes.route.input == AudioRoute.End(.headsetMicrophone, name: "Headset"))
        #expect(routes.outputName == "plughw:CARD=Set,DEV=0")
        #expect(routes.see([builtIn, headset]) == [])
        let went = routes.see([builtIn])
        #expect(went.map(\.reason) == [.oldDeviceUnavailable])
        #expect(went.first?.route == .builtIn)
    }

    @Test("A device of the scenario that is there from the beginning is the route from the beginning")
    func there() throws {
        #expect(try routes([builtIn, headset]).route.output?.kind == .headphones)
    }

    @Test("A USB card that nobody named becomes the route when it is plugged in, as far as it can play and hear")
    func unknown() throws {
        var routes = try routes([builtIn])
        #expect(routes.see([builtIn, stick]).map(\.device) == ["USB Audio"])
        #expect(routes.route.output == AudioRoute.End(.usb, name: "USB Audio"))
        #expect(routes.route.input == AudioRoute.builtIn.input)
        #expect(routes.inputName == "hw:PCH,1")
    }

    @Test("A card that was there from the beginning, or that is built in, does not take the sound over")
    func others() throws {
        var routes = try routes([stick])
        #expect(routes.see([stick, builtIn]) == [])
        #expect(routes.outputName == "default")
    }

    @Test("A card that fails is left alone until it has gone and come again")
    func fails() throws {
        var routes = try routes([builtIn, headset])
        #expect(routes.lose("plughw:CARD=Set,DEV=0").map(\.reason) == [.oldDeviceUnavailable])
        #expect(routes.lose("plughw:CARD=Set,DEV=0") == [])
        #expect(routes.see([builtIn, headset]) == [])
        #expect(routes.see([builtIn]) == [])
        #expect(routes.see([builtIn, headset]).map(\.reason) == [.newDeviceAvailable])
    }

    @Test("A card that is back before anybody looks is tried again once it is heard that it came")
    func backAtOnce() throws {
        var routes = try routes([builtIn, headset])
        #expect(routes.lose("plughw:CARD=Set,DEV=0").map(\.reason) == [.oldDeviceUnavailable])
        #expect(routes.see([builtIn, headset]) == [])
        #expect(routes.see([builtIn, headset], newcomer: builtIn.index) == [])
        #expect(routes.see([builtIn, headset], newcomer: headset.index).map(\.reason) == [.newDeviceAvailable])
        #expect(routes.outputName == "plughw:CARD=Set,DEV=0")
    }

    @Test("Without the phone's own card nothing plays until it is there again")
    func lost() throws {
        var routes = try routes([builtIn])
        #expect(routes.lose("default").map(\.route.output) == [nil])
        #expect(routes.outputName == nil)
        #expect(routes.route.input == AudioRoute.builtIn.input)
        #expect(routes.lostNames == ["default"])
        #expect(routes.regain("default").map(\.route) == [.builtIn])
        #expect(routes.outputName == "default")
    }
}
