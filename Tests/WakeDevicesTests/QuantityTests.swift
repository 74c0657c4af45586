import Testing
import WakeModel

@testable import WakeDevices

@Suite("Numbers of files")
struct QuantityTests {
    @Test(
        "A decimal number may have an exponent, as programs print small and large ones",
        arguments: [
            ("1e-5", 0.00001), ("1e-05", 0.00001), ("-1.2345678901234567e-05", -0.000012345678901234567),
            ("1E+1", 10), ("1.5e1", 15), ("0e0", 0), ("-4.5", -4.5), ("12", 12),
        ]
    )
    func numbers(text: String, number: Double) {
        #expect(Quantity.number(text) == number)
    }

    @Test(
        "What is no decimal number is none",
        arguments: [
            "", "e", "e5", "1e", "1e+", "1e1.5", "+1", "1e5e5", "--1", "0x10", "1e-5 ", "inf", "nan", "1_0", "١",
            "1.00000000000000000000000",
        ]
    )
    func none(text: String) {
        #expect(Quantity.number(text) == nil)
    }

    @Test("Lengths and speeds take such numbers, and their units stay apart from them")
    func units() {
        #expect(Quantity.value("1.5e3m", in: Quantity.lengths) == 1_500)
        #expect(Quantity.value("1e-1km", in: Quantity.lengths) == 100)
        #expect(Quantity.value("2e1m/s", in: Quantity.speeds) == 20)
        #expect(Quantity.value("1em", in: Quantity.lengths) == nil)
    }

    @Test("A place of a route may be as near the equator as a program writes it; what overflows is refused")
    func places() throws {
        func track(_ latitude: String) throws(FileError) -> LocationTrack {
            let text = "device: location-track\nroute: [{latitude: \(latitude), longitude: -1e-7, wait: 1m}]\n"
            return try LocationTrack.parse(Array(text.utf8), file: "track.yaml") { (_) throws(FileError) in [] }
        }
        guard case .way(let way, _) = try track("1e-5").path else {
            Issue.record("no way")
            return
        }
        let place = way.point(at: .zero).place
        #expect(abs(place.latitude - 0.00001) < 1e-12 && abs(place.longitude + 0.0000001) < 1e-12)
        let error = #expect(throws: FileError.self) { try track("1e400") }
        #expect(error?.description == "track.yaml:2: '1e400'; expected a latitude from -90 to 90")
    }
}
