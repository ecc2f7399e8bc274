// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import Testing

/// Checks which of several readers is taken.
struct ReaderChoiceTests {
    private static let names = [
        "Alcor Micro AU9540 00 00", "HID Global OMNIKEY 5422 Smartcard Reader 01 00",
        "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] 01 00",
        "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00",
        "Sony FeliCa Port/PaSoRi 3.0 00 00",
    ]

    private static func states(_ names: [String]) -> [SmartCardReaderState] {
        names.map { SmartCardReaderState($0, flags: .empty) }
    }

    @Test("The first contactless one is found by its name, and slots for contacts are passed over")
    func firstContactless() {
        let choice = ReaderChoice.firstContactless
        #expect(choice.pick(from: Self.states(Self.names)) == Self.names[1])
        #expect(choice.pick(from: Self.states(Array(Self.names[2...]))) == Self.names[3])
        #expect(choice.pick(from: Self.states([Self.names[0]])) == nil)
        #expect(choice.pick(from: []) == nil)
    }

    @Test("A card in a reader says better than a name what the reader is")
    func byCard() {
        var states = Self.states(["Something 00 00", "ACS ACR122U 00 00"])
        states[0].answerToReset = [UInt8](hex: "3B8180018080")
        #expect(ReaderChoice.firstContactless.pick(from: states) == "Something 00 00")
        states[0].answerToReset = [UInt8](hex: "3BDA18FF81B1FE751F030031F573C001600090001C")
        #expect(ReaderChoice.firstContactless.pick(from: states) == "ACS ACR122U 00 00")
    }

    @Test("A reader is named whole, by its beginning, or by a part, in any case")
    func named() {
        let states = Self.states(Self.names)
        #expect(ReaderChoice.named(Self.names[4]).pick(from: states) == Self.names[4])
        #expect(ReaderChoice.named("sony").pick(from: states) == Self.names[4])
        #expect(ReaderChoice.named("picc").pick(from: states) == Self.names[3])
        #expect(ReaderChoice.named("nothing").pick(from: states) == nil)
        // A later one that fits better comes first.
        let similar = ["Another ACS 00 00", "ACS 00 00", "ACS"]
        #expect(ReaderChoice.named("acs 0").pick(from: Self.states(similar)) == similar[1])
        #expect(ReaderChoice.named("acs").pick(from: Self.states(similar)) == similar[2])
        #expect(ReaderChoice.named("other acs").pick(from: Self.states(similar)) == similar[0])
    }

    @Test("Where none is contactless for certain, the first one is taken when one was asked for")
    func first() {
        #expect(ReaderChoice.first.pick(from: Self.states(["A SAM 00 00", "B 00 00"])) == "B 00 00")
    }

    @Test("A reader with a PN53x, by its name or its own word, does not look for ISO/IEC 15693 tags")
    func technologies() async throws {
        let without = Set(Technology.allCases).subtracting([.nfcV])
        for (name, wanted) in [
            ("ACS ACR122U PICC Interface 00 00", without), ("SCM Micro SCL3711-NFC&RW 00 00", without),
            ("ACS ACR1552 1S CL Reader PICC 0 00 00", Set(Technology.allCases)),
        ] {
            #expect(PCSCReader(.named(name), layer: ScriptedService()).technologies == wanted)
        }
        // What the reader says when it has a tag on it counts for more than its name.
        for (chip, wanted) in [("d50332010607 9000", without), ("6a81", Set(Technology.allCases))] {
            let service = SampleCards.service(SampleCards.type2Answer, name: "Some NFC reader 00 00") { command in
                switch command.hex {
                case "ffca000000": SampleCards.uid + [0x90, 0x00]
                case "ff00000002d402": [UInt8](hex: chip)
                case "ff00000005d408630300": [UInt8](hex: "d509 9000")
                default: [0x6A, 0x81]
                }
            }
            let states = try PCSCReader.states(service)
            let reports = await PCSCReader.reports(states, service, askingReaders: true)
            #expect(reports.map(\.technologies) == [wanted])
            let call = try #require(reports.first?.calls.first { $0.name == "NFCISO15693Tag's commands" })
            #expect((call.support == .no) == (wanted == without))
        }
    }
}
