// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
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
    }

    @Test("Where none is contactless for certain, the first one is taken when one was asked for")
    func first() {
        #expect(ReaderChoice.first.pick(from: Self.states(["A SAM 00 00", "B 00 00"])) == "B 00 00")
    }
}
