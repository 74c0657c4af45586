import CoreBluetooth
import CoreLocation
import Foundation
import Testing
import UIKit

/// Whose notifications some are.
private final class Poster: Sendable {}

@Suite("Declarations that Linux lacks")
struct DeclarationTests {
    @Test("Any object stands for %@ in a format, by its description, and beside other values")
    func formats() {
        let text = String(format: "%@ %d %@ %@", NSNumber(value: 7), 8, CBUUID(string: "180D"), "nine" as NSString)
        #expect(text == "7 8 180D nine")
        let error = NSError(domain: "d", code: 1, userInfo: [NSLocalizedDescriptionKey: "so it is"])
        #expect(String(format: "%@", error) == error.description)
    }

    @Test("Units of time are Dispatch's")
    func units() {
        #expect(NSEC_PER_SEC == USEC_PER_SEC * NSEC_PER_USEC)
        #expect(NSEC_PER_SEC == MSEC_PER_SEC * NSEC_PER_MSEC)
    }

    @Test("The states of managers before iOS 10 are types of their own with the same numbers")
    func states() {
        #expect(CBCentralManagerState.poweredOn.rawValue == CBManagerState.poweredOn.rawValue)
        #expect(CBPeripheralManagerState.unauthorized.rawValue == CBManagerState.unauthorized.rawValue)
        #expect(type(of: CBCentralManagerState.unknown as Any) != type(of: CBManagerState.unknown as Any))
    }

    @Test("A UUID of nothing equals its like alone")
    func emptyUUID() {
        #expect(CBUUID() == CBUUID())
        #expect(CBUUID() != CBUUID(string: "0000"))
        #expect(CBUUID().uuidString == "" && CBUUID().data.isEmpty)
    }

    @Test("A visit can be made, and its properties overridden, as tests of apps do")
    func visit() {
        final class Stay: CLVisit, @unchecked Sendable {
            override var arrivalDate: Date { Date(timeIntervalSince1970: 5) }
        }
        #expect(CLVisit().arrivalDate == .distantPast && CLVisit().departureDate == .distantFuture)
        let stay: CLVisit = Stay()
        #expect(stay.arrivalDate.timeIntervalSince1970 == 5)
    }

    @Test("A picture is the bytes of its file, and other bytes are none")
    func picture() throws {
        let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2])
        let file = FileManager.default.temporaryDirectory.appending(path: "picture-\(UUID().uuidString).png")
        try png.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(UIImage(contentsOfFile: file.path)?.pngData() == png)
        let jpeg = try #require(UIImage(data: Data([0xff, 0xd8, 0xff, 0xe0])))
        #expect(jpeg.pngData() == nil)
        #expect(UIImage(data: Data("GIF89a".utf8)) == nil)
        #expect(UIImage(named: "no such picture") == nil)
    }

    // MARK: Sequences of notifications

    private static let name = Notification.Name("DeclarationTests")

    private func post(_ numbers: ClosedRange<Int>, in center: NotificationCenter, by object: AnyObject? = nil) {
        for number in numbers { center.post(name: Self.name, object: object, userInfo: ["number": number]) }
    }

    @Test("Notifications come in order from the begin of an iteration, those of one object where it is named")
    func notifications() async {
        let center = NotificationCenter()
        let object = Poster()
        let all = center.notifications(named: Self.name)
        let some = center.notifications(named: Self.name, object: object)
        post(1...1, in: center)
        var allNumbers = all.map { $0.userInfo?["number"] as? Int }.makeAsyncIterator()
        var someNumbers = some.map { $0.userInfo?["number"] as? Int }.makeAsyncIterator()
        post(2...2, in: center)
        post(3...3, in: center, by: object)
        center.post(name: Notification.Name("other"), object: object)
        for number in 2...3 {
            let found = await allNumbers.next()
            #expect(found == number)
        }
        let found = await someNumbers.next()
        #expect(found == 3)
    }

    @Test("Of notifications that nobody takes the newest seven are kept")
    func keptNotifications() async {
        let center = NotificationCenter()
        var numbers = center.notifications(named: Self.name).map { $0.userInfo?["number"] as? Int }.makeAsyncIterator()
        post(1...10, in: center)
        for number in 4...10 {
            let found = await numbers.next()
            #expect(found == number)
        }
    }

    @Test("A task that is cancelled ends its iteration")
    func cancelledNotifications() async {
        let center = NotificationCenter()
        let task = Task {
            var count = 0
            for await _ in center.notifications(named: Self.name) { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value == 0)
    }
}
