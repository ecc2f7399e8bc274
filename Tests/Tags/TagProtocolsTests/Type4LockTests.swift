// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Locking Type 4 tags, and the NDEF application that a blank DESFire gets (NFC Forum T4T 1.2, 6; NXP AN11004).
struct Type4LockTests {
    // MARK: Locking

    @Test(arguments: [("9000", "ok"), ("6982", "key-needed"), ("6a84", "update-failed")])
    func `Type 4 lock: the write access alone is written, and after an error the container is read again`(
        status: String,
        result: String
    ) async {
        let read = "FILE; > 00b0000016 < 0000 {20} 9000"
        await Type4Tests.check(
            """
            detect: rw 2046 0
            \(Type4Tests.start)
            \(read)
            lock: \(result)
            CC
            > 00d6000e01ff < \(status)
            """ + (result == "ok" ? "\ndetect: ro 2046 0\nlock: read-only" : "")
        )
        await Type4Tests.check(
            "detect: rw 2046 0; \(Type4Tests.start); \(read); lock: update-failed; > 00a4000c02e103 < 6a82"
        )
        guard result == "update-failed" else { return }
        for (access, found) in [("00", "rw"), ("ff", "ro")] {
            await Type4Tests.check(
                """
                lock: update-failed
                \(Type4Tests.start)
                > 00d6000e01ff < 6a84
                detect: \(found) 2046 0
                > 00b000000f < 000f20 00fb 00f6 0406 e104 0800 00\(access) 9000
                \(read)
                """
            )
        }
    }

    /// The answer to GetFileSettings, with the file's rights: read, write; both, change. EE: everybody.
    @Test(arguments: [
        ("0000 ee ee 9100", "ok"), ("0000 00 0e 9100", "ok"), ("0000 e0 00 9100", "ok"),
        ("0000 0e e0 9100", "key-needed"), ("0000 00 00 9100", "key-needed"), ("0000 00 9100", "ok"),
        ("0000 00 00 91ae", "ok"), ("6d00", "ok"),
    ]) func `Type 4 lock check: a DESFire file that only a key may write throws keyNeeded`(
        answer: String,
        result: String
    ) async {
        // What is selected afterwards is not taken for granted.
        await Type4Tests.check(
            """
            check-lock: \(result)
            APP
            > 90f50000010100 < \(answer)
            lock: read-only
            APP
            CC
            > 00b000000f < 000f20 00fb 00f6 0406 e104 0800 00ff 9000
            """
        )
    }

    /// A card, the error of a check and of a lock, and of a write.
    private static let cards: [(String, TagError.Code?, TagError.Code?, @Sendable () -> VirtualType4Tag)] = [
        ("DESFire EV1", .keyNeeded, nil, { VirtualType4Tag(DESFireContents.ndef()) }),
        ("DESFire EV3", .keyNeeded, nil, { VirtualType4Tag(DESFireContents.ndef(generation: .ev3)) }),
        ("NTAG 424 DNA", .keyNeeded, nil, { VirtualType4Tag(NTAG424Contents()) }),
        (
            "DESFire with a container for everybody", nil, nil,
            {
                var contents = DESFireContents.ndef()
                contents.applications[0].files[0].accessRights = 0xEEE0
                return VirtualType4Tag(contents)
            }
        ), ("card without rights", nil, nil, { VirtualType4Tag(card: ApplicationCard([NDEFApplication()])) }),
        (
            "DESFire with a message for its key", .keyNeeded, .keyNeeded,
            {
                var contents = DESFireContents.ndef()
                contents.applications[0].files[1].accessRights = 0xE000
                return VirtualType4Tag(contents)
            }
        ),
    ]

    @Test func `Type 4 lock: a card that wants a key has the same error in the check and the lock, and stays writable`()
        async throws
    {
        for (name, lock, write, make) in Self.cards {
            let bench = try await ProductBench(make())
            #expect(await errorCode { try await bench.reader.checkLocking() } == lock, "\(name)")
            #expect(bench.field.writeCount == 0, "\(name)")
            #expect(await errorCode { try await bench.reader.writeNDEF([0xD0, 0, 0]) } == write, "\(name)")
            #expect(await errorCode { try await bench.reader.lock() } == lock, "\(name)")
            #expect(try await bench.reader.detectNDEF().access == (lock == nil ? .readOnly : .readWrite), "\(name)")
        }
    }

    // MARK: Formatting

    private static let none = "> 00a4040007d276000085010100 < 6a82; > 00a4040007d276000085010000 < 6a82"

    /// The three frames of GetVersion.
    private static func version(_ hardware: String = "04010101001805") -> String {
        """
        > 9060000000 < \(hardware) 91af
        > 90af000000 < \(hardware) 91af
        > 90af000000 < 04010203040506 {7} 9100
        """
    }

    private static let select = "> 905a000003 000000 00 < 9100"
    private static let create = "> 90ca00000e 010000 0f21 10e1 d2760000850101 00 < 9100"
    private static let inside = "> 905a000003 010000 00 < 9100"
    private static let files =
        "> 90cd000009 01 03e1 00 eeee 0f0000 00 < 9100; > 90cd000009 02 04e1 00 eeee 001000 00 < 9100"

    /// The card's storage size and the size of the NDEF file, low byte first: 2K, 4K, 8K, and one that is smaller than any.
    @Test(arguments: [("16", "0008"), ("18", "0010"), ("1a", "001e"), ("10", "0001")])
    func `DESFire format: an application, its files as large as there is room, and the container; what exists is taken`(
        storage: String,
        size: String
    ) async {
        await Type4Tests.check(
            """
            format: ok
            \(Self.none)
            \(Self.version("0401010100" + storage + "05"))
            \(Self.select)
            \(Self.create.replacing("9100", with: "91de"))
            \(Self.inside)
            > 90cd000009 01 03e1 00 eeee 0f0000 00 < 91de
            > 90cd000009 02 04e1 00 eeee \(size)00 00 < 91de
            APP
            CC
            > 00d600000f 000f20003b00340406e104\(size.suffix(2))\(size.prefix(2))0000 < 9000
            """
        )
    }

    @Test func `DESFire format: each card and refusal that ends it has its code`() async {
        let ev1 = Self.none + "\n" + Self.version() + "\n"
        for (script, code) in [
            // MIFARE Plus, the first DESFire, and a card without GetVersion.
            (Self.none + "\n" + Self.version("04020111001805"), "unsupported"),
            (Self.none + "\n" + Self.version("04010100001805"), "unsupported"),
            (Self.none + "; > 9060000000 < 6e00", "unsupported"),
            (ev1 + Self.select.replacing("9100", with: "91de"), "update-failed"),
            (ev1 + Self.select + "\n" + Self.create.replacing("9100", with: "91ae"), "update-failed"),
            (
                ev1 + [Self.select, Self.create, Self.inside.replacing("9100", with: "91de")].joined(separator: "\n"),
                "update-failed"
            ),
            (
                ev1
                    + [Self.select, Self.create, Self.inside, Self.files, "APP", "> 00a4000c02e103 < 6a82"].joined(
                        separator: "\n"
                    ), "update-failed"
            ), ("> 00a4040007d276000085010100 < silence", "tag-lost"), ("APP; CC; > 00b000000f < 6982", "refused"),
            // A card with an application is not changed.
            (Type4Tests.start, "ok"),
        ] { await Type4Tests.check("format: \(code)\n\(script)") }
    }

    @Test func `DESFire GetVersion: three frames of at least 7, 7 and 7 bytes, or nil`() async throws {
        func version(_ exchanges: String) async throws -> DESFireVersion? {
            let link = ScriptedLink(exchanges: exchanges)
            let found = try await DESFireVersion.read(from: link)
            #expect(link.remaining == 0)
            return found
        }
        let found = try await version(Self.version())
        #expect(found.map { hex($0.hardware) } == "04010101001805" && found.map { hex($0.uid) } == "04010203040506")
        #expect(found?.production.count == 7 && found?.bytes.count == 28)
        for exchanges in [
            Self.version().replacing("9100", with: "91af"), "> 9060000000 < 911c", "> 9060000000 < 6d00",
            "> 9060000000 < 9000", "> 9060000000 < 04010101001805 91af; > 90af000000 < 010203 9100",
        ] { #expect(try await version(exchanges) == nil, "\(exchanges)") }
        #expect(DESFireVersion([UInt8](repeating: 1, count: 20)) == nil)
        #expect(DESFireVersion([UInt8](repeating: 1, count: 21))?.production == [])
    }
}
