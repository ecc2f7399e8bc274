// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite("Flipper files of DESFire cards")
struct FlipperDESFireTests {
    private static let file = "Application 563412 File"

    private func card(_ text: String) throws -> DESFireContents {
        guard case .type4(let contents) = try TagImage(parsing: Array(text.utf8)).contents,
            case .desfire(let card) = contents.kind
        else { throw TagImageError(.unsupported, "") }
        return card
    }

    /// The card of the dump after a change.
    private func contents(_ change: (inout DESFireContents) -> Void) throws -> TagContents {
        guard case .type4(var contents) = try Files.image("desfire.nfc").contents,
            case .desfire(var card) = contents.kind
        else { throw TagImageError(.unsupported, "") }
        change(&card)
        contents.kind = .desfire(card)
        return .type4(contents)
    }

    private func text(_ contents: TagContents) throws -> String {
        String(decoding: try TagImage(contents, format: .flipper).encoded(), as: UTF8.self)
    }

    @Test("The settings of keys have a line for each of their bits")
    func settings() throws {
        let contents = try contents {
            $0.keySettings = 0xA5
            $0.applications[0].keySettings = 0x5A
        }
        let text = try text(contents)
        for (name, id, flags) in [
            ("PICC", "0A", [false, true, false, true]), ("563412", "05", [true, false, true, false]),
        ] {
            let start = name == "PICC" ? name : "Application \(name)"
            let keys = ["Config Changeable", "Free Create Delete", "Free Directory List", "Key Changeable"]
            let lines = zip(keys, flags).map { "\(start) \($0): \($1)\n" }.joined()
            #expect(text.contains("\n\(start) Change Key ID: \(id)\n\(lines)"), "\(name)")
        }
        #expect(try TagImage(parsing: Array(text.utf8)).contents == contents)
    }

    @Test("The free memory is that of the file")
    func freeMemory() throws {
        let text = try Files.text("desfire.nfc")
        #expect(try card(text).freeMemory == 7520)
        #expect(try card(text.replacing("PICC Free Memory: 7520\n", with: "")).reservedMemory == 0)
        for (free, code): (Int, TagImageError.Code?) in [(0, nil), (0xFF_FFFF, nil), (0x100_0000, .malformed)] {
            let error = try Files.failure("desfire.nfc", "Free Memory: 7520", "Free Memory: \(free)")
            #expect(error?.code == code, "\(free)")
        }
    }

    @Test("A card has 0 to 28 applications, and lines for those that it has alone")
    func applications() throws {
        let text = try Files.text("desfire.nfc")
        let counted = "Application Count: 2\nApplication IDs: 56 34 12 01 00 00\n"
        #expect(text.contains(counted))
        #expect(try card(text.replacing(counted, with: "")).applications.isEmpty)
        let none = try self.text(contents { $0.applications = [] })
        #expect(none.hasSuffix("\nApplication Count: 0\n"))
        let bare = try self.text(contents { $0.applications = [DESFireApplication(identifier: 5)] })
        #expect(bare.hasSuffix("\nApplication 050000 Max Keys: 01\nApplication 050000 Key 0 Version: 00\n"))
        #expect(bare.contains("\nApplication Count: 1\nApplication IDs: 05 00 00\n"))
        for text in [none, bare] { #expect(try TagImage(parsing: Array(text.utf8)).remarks.isEmpty) }
        for count in [28, 29] {
            let many = try contents { card in
                card.applications = (1...count).map { DESFireApplication(identifier: UInt32($0)) }
            }
            #expect(TagImage.Format.flipper.canHold(many) == (count == 28))
        }
    }

    @Test("A file of each kind is read as it was written")
    func kinds() throws {
        let kinds: [DESFireFile.Kind] = [
            .backup(Array(1...3)), .value(lower: -1, upper: -1, current: -1, limitedCredit: false),
            .linearRecords(size: 4, maximum: 2, records: Array(1...8)),
            .linearRecords(size: 4, maximum: 0, records: []), .cyclicRecords(size: 256, maximum: 256, records: []),
        ]
        let contents = try contents { card in
            card.applications[0].files = kinds.enumerated().map {
                DESFireFile(number: UInt8($0.offset), accessRights: 0xE321, kind: $0.element)
            }
            card.freeMemory = 100
        }
        let text = try text(contents)
        #expect(text.contains("\n\(Self.file) 0 Type: 01\n"))
        #expect(
            text.contains("\n\(Self.file) 0 Access Rights: 21 E3\n\(Self.file) 0 Size: 3\n\(Self.file) 0: 01 02 03\n")
        )
        #expect(text.contains("\n\(Self.file) 1 Hi Limit: 4294967295\n\(Self.file) 1 Lo Limit: 4294967295\n"))
        #expect(try TagImage(parsing: Array(text.utf8)).contents == contents)
    }

    @Test("Data that was not read is zero")
    func unread() throws {
        let text = try Files.text("desfire.nfc").replacing("\(Self.file) 2: FB FF FF FF\n", with: "")
            .replacing("\(Self.file) 3: 01 02 03 04 05 06 07 08\n", with: "")
        let files = try card(text).applications[0].files
        #expect(files[1].kind == .value(lower: -10, upper: 1000, current: 0, limitedCredit: false))
        #expect(files[2].kind == .cyclicRecords(size: 4, maximum: 3, records: Array(repeating: 0, count: 8)))
        let remarks = try TagImage(parsing: Array(text.utf8)).remarks
        let names = "Application 563412 File 2, Application 563412 File 3, Application 563412 File 4"
        #expect(remarks.contains { $0.text.hasPrefix("The data of \(names) are not in the file;") })
    }

    @Test(
        "Records fill 65536 bytes at most",
        arguments: [(256, 256, true), (257, 256, false), (1, 65535, true), (1, 65536, false)]
    )
    func recordSizes(size: Int, maximum: Int, isTaken: Bool) throws {
        let file = "\(Self.file) 3"
        let old = "\(file) Size: 4\n\(file) Max: 3\n\(file) Cur: 2\n\(file): 01 02 03 04 05 06 07 08\n"
        let new = "\(file) Size: \(size)\n\(file) Max: \(maximum)\n\(file) Cur: 0\n"
        #expect(try Files.failure("desfire.nfc", old, new)?.code == (isTaken ? nil : .malformed))
    }

    @Test(
        "A file has a number up to 31, a size of two bytes, and a type that is known",
        arguments: [
            ("File IDs: 01 02 03 04", "File IDs: 01 02 03 1F", .missingField, "File 31 Type is missing"),
            ("File IDs: 01 02 03 04", "File IDs: 01 02 03 20", .malformed, "has a number that is above 31"),
            ("File 4 Size: 32", "File 4 Size: 65535", nil, ""),
            ("File 4 Size: 32", "File 4 Size: 65536", .malformed, "from 0 to 65535."),
            ("File 1 Type: 00", "File 1 Type: 05", .unsupported, "A transaction MAC file (type 05) is not supported"),
            ("File 1 Type: 00", "File 1 Type: 09", .unsupported, "A file of type 09 is not supported."),
        ] as [(String, String, TagImageError.Code?, String)]
    )
    func faults(original: String, fault: String, code: TagImageError.Code?, reason: String) throws {
        let error = try Files.failure("desfire.nfc", original, fault)
        #expect(error?.code == code)
        #expect(error?.reason.contains(reason) ?? (code == nil))
    }
}
