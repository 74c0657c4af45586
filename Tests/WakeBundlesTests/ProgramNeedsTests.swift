import Foundation
import Testing

@testable import WakeBundles

@Suite("What a program asks for")
struct ProgramNeedsTests {
    private static let answer = """
        \tlinux-vdso.so.1 (0x00007f5622d75000)
        \tlibfrob.so.2 => not found
        \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f5622b7c000)
        ./heart: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.99' not found (required by ./heart)
        undefined symbol: $s9HealthKit13HKHealthStoreCMa\t(./heart)
        undefined symbol: frob, version FROB_1\t(./heart)
        undefined symbol: frob, version FROB_1\t(./libother.so)
        symbol old, version OLD_1 not defined in file libold.so.1 with link time reference\t(./heart)

        """

    @Test("The loader's lines are sorted, each thing once")
    func sorted() {
        let read = LoaderAnswer(Self.answer)
        #expect(read.end == .complete)
        #expect(read.libraries == ["libfrob.so.2"])
        #expect(read.symbols == ["$s9HealthKit13HKHealthStoreCMa", "frob", "old"])
        #expect(read.versions == ["GLIBC_2.99 of libc.so.6"])
    }

    @Test("Functions of a library that is told of are not told of again")
    func sentences() {
        #expect(
            LoaderAnswer(Self.answer).sentences == [
                "uses HealthKit, which Wakebench does not have: type metadata accessor for HealthKit.HKHealthStore; "
                    + "#if canImport(HealthKit) leaves it out",
                "needs the library libfrob.so.2, which this machine does not have",
                "needs GLIBC_2.99 of libc.so.6, which is older here; build it on this machine",
            ]
        )
    }

    @Test("What ldd says when there is nothing to load, or when it fails, is the end")
    func ends() {
        #expect(LoaderAnswer("\tnot a dynamic executable\n").end == .notDynamic)
        #expect(LoaderAnswer("\tstatically linked\n").end == .notDynamic)
        #expect(LoaderAnswer("ldd: exited with unknown exit code (135)\n").end == .gaveUp)
        #expect(LoaderAnswer("").sentences == [])
    }

    @Test("An answer cut off anywhere is read without harm")
    func cut() {
        for count in 0...Self.answer.utf8.count {
            let part = String(decoding: Array(Self.answer.utf8.prefix(count)), as: UTF8.self)
            #expect(LoaderAnswer(part).sentences.count <= 4)
        }
        #expect(LoaderAnswer(": version `' not found (required by : version `").versions.count <= 1)
        #expect(LoaderAnswer("' not found (required by x: version `").versions == [])
    }

    @Test(
        "The module of a Swift symbol is read, and what is none has none",
        arguments: [
            ("$s7CoreNFC3fooyyF", "CoreNFC"), ("$s7CoreNF", nil), ("$s07CoreNFC", nil), ("$s", nil),
            ("$sSo5fooBar", nil),
            ("malloc", nil), ("$s99999999999999999999a", nil), ("$s0a", nil),
        ] as [(String, String?)]
    )
    func module(symbol: String, name: String?) {
        #expect(LoaderAnswer.module(of: symbol) == name)
    }

    @Test("What a program keeps by means that are otherwise here than on a phone is told by its symbols, and no other")
    func keptState() {
        let library = "\0libFoundationEssentials.so\0"
        let protects = "$s20FoundationEssentials4DataV14WritingOptionsV22completeFileProtectionAEvau\0"
        let cookies = "$s20FoundationNetworking17HTTPCookieStorageC6sharedACvgZ\0"
        #expect(
            KeptState.notes(on: Data((library + cookies + protects).utf8)) == [
                "it protects files, which is not emulated: a locked phone reads them here, where on a phone that fails",
                "it keeps cookies in HTTPCookieStorage, which forgets here, with the process, those with Max-Age, and that others are Secure or HttpOnly",
            ]
        )
        let credentials = "$s20FoundationNetworking20URLCredentialStorageC6sharedACvgZ\0"
        #expect(
            KeptState.notes(on: Data((library + credentials).utf8)) == [
                "it keeps credentials in URLCredentialStorage, which is no keychain here: they are gone with the process"
            ]
        )
        let others = "$s20FoundationEssentials4DataV14WritingOptionsV6atomicAEvau\0"
        #expect(KeptState.notes(on: Data((library + others).utf8)) == [])
        // A program that has Foundation in it has all of its symbols.
        #expect(KeptState.notes(on: Data(cookies.utf8)) == [])
        #expect(
            KeptState.notes(on: Data(("CFPreferencesSetAppValue" + cookies).utf8)) == [
                "it has Foundation linked into it (--static-swift-stdlib): what it sets in UserDefaults is kept by synchronize() alone"
            ]
        )
    }

    @Test("Each module of the SDK is known to be here, and none of them as missing")
    func modules() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/SDK")
        let modules = try FileManager.default.contentsOfDirectory(atPath: sources.path)
            .filter { !$0.hasPrefix("Wake") && !$0.hasPrefix("_") && !$0.hasPrefix(".") }
        #expect(modules.contains("CoreBluetooth"))
        for module in modules {
            #expect(KnownModule.here.contains(module), "\(module)")
            #expect(!KnownModule.absent.contains(module), "\(module)")
        }
    }
}
