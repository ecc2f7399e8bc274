// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing

/// Tags that are locked, guarded, counted or switched off.
@Suite(.ownThreads) struct `What nfc tag info says of tags in other states than new ones` {
    private let images: Images
    private let nfc = Command(name: "nfc")

    init() throws {
        images = try Images()
    }

    /// What people read of a new tag whose image is changed.
    ///
    /// - Parameters:
    ///   - members: further members of the image.
    ///   - old: bytes of the memory, in hex.
    ///   - new: what replaces them.
    private func info(
        _ product: String,
        _ uid: String,
        members: String = "",
        replacing old: String = "",
        with new: String = ""
    ) throws -> String {
        let path = try images.blank(product, uid: uid, format: "json")
        var text = try String(contentsOfFile: path, encoding: .utf8)
        if !members.isEmpty { text = text.replacing("{", with: "{\(members), ", maxReplacements: 1) }
        if !old.isEmpty {
            try #require(text.contains(old))
            text = text.replacing(old, with: new, maxReplacements: 1)
        }
        return try info(of: text)
    }

    /// What people read of an image.
    private func info(of text: String) throws -> String {
        let path = images.folder.path("changed.json")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try nfc.run("tag", "info", "--image", path)
        #expect(outcome.status == 0, "\(outcome.error)")
        return outcome.output
    }

    @Test func `The locks of a Topaz are those of its blocks and of its dynamic bytes`() throws {
        let bytes = "0160" + String(repeating: "0", count: 28)
        let blocks = "03e0" + String(repeating: "0", count: 28)
        let first = "0160" + String(repeating: "0", count: 16) + "800000000000"
        let last = "0160" + String(repeating: "0", count: 26) + "01"
        for (new, meant) in [
            (blocks, "blocks 0-1, 13-15 (03e0000000000000)"),
            (first, "blocks 0, 13-14 (0160800000000000)"), (last, "blocks 0, 13-14 (0160000000000001)"),
        ] {
            let changed = try info("Topaz 512", "0b5542b3465900", replacing: bytes, with: new)
            #expect(changed.contains("\nLocks      \(meant)\n"), "\(changed)")
        }
        // It has no block 15.
        let whole = try info("Topaz 96", "0b5542b3465900", replacing: "0160000000000000", with: "ffff000000000000")
        #expect(whole.contains("\nLocks      blocks 0-14 (ffff)\n"), "\(whole)")
        #expect(
            try info("Topaz 512", "0b5542b3465900") == """
                Product    Topaz 512, Type 1
                UID        0b5542b3465900
                Header     124c
                Memory     512 bytes in blocks of 8
                Map        block 0 UID; blocks 1-12 capability container and data; block 13 reserved; block 14 locks \
                and one-time bytes; block 15 reserved and locks; blocks 16-63 data
                Locks      none on data (0160000000000000)
                CC         e1103f00
                Can be written, holds up to 462 bytes
                No message

                """
        )
        #expect(
            try info("Topaz 96", "0b5542b3465900") == """
                Product    Topaz 96, Type 1
                UID        0b5542b3465900
                Header     1148
                Memory     120 bytes in blocks of 8
                Map        block 0 UID; blocks 1-12 capability container and data; block 13 reserved; block 14 locks \
                and one-time bytes
                Locks      none on data (0160)
                CC         e1100e00
                Can be written, holds up to 90 bytes
                No message

                """
        )
    }

    @Test func `A counter that was torn is marked where a tag has several, and failed passwords are counted`() throws {
        let flags = #""counters": [12, 0, 70000], "tearing_flags": "bdbd00""#
        let torn = try info("UL11", "04a1b2c3d4e580", members: flags)
        #expect(torn.contains("\nCounters   0 at 12, 1 at 0, 2 at 70000 (torn)\n"), "\(torn)")
        let guarded = try info(
            "NTAG213",
            "04a1b2c3d4e580",
            members: flags + #", "failed_authentications": 3"#,
            replacing: "bd040000ff00000000ffffffff",
            with: "bd0400000480000000ffffffff"
        )
        #expect(guarded.contains("\nPassword   pages from 4 on need a password; 3 failed in a row\n"), "\(guarded)")
        #expect(guarded.contains("\nCounters   2 at 70000\n"), "\(guarded)")
        #expect(guarded.contains("\nThe tag lets page 4 be read only with its password"), "\(guarded)")
        #expect(!guarded.contains("Not formatted"), "\(guarded)")
        // A product without a counter has no line for it.
        #expect(
            try info("Ultralight C", "04a1b2c3d4e580") == """
                Product    MIFARE Ultralight C, Type 2
                UID        04a1b2c3d4e580
                Answers    ATQA 0044, SAK 00
                Version    no GET_VERSION
                Signature  none
                Memory     48 pages, 144 bytes for data
                Map        pages 0-1 UID; page 2 UID and static locks; page 3 capability container; pages 4-39 data; \
                page 40 dynamic locks; pages 42-47 configuration and key
                Locks      none (static 0000, dynamic 000000)
                CC         e1101200
                Can be written, holds up to 142 bytes
                No message

                """
        )
    }

    @Test func `A FeliCa Lite-S says which blocks are read-only, and what is frozen or switched off`() throws {
        let members = #""memory_configuration": "fe3f0000000000000000000000000000", "write_counter": 42"#
        let changed = try info("FeliCa Lite-S", "02fe7017f3039e49", members: members)
        let states = """
            Locks      blocks 0, 14 read-only, system blocks frozen
            NDEF system switched off
            Counter    42 writes
            Not formatted for messages
            The tag does not have the NDEF system 12FC (NFC Forum T3T 1.0, 3.2).

            """
        #expect(changed.hasSuffix("\n" + states), "\(changed)")
        let new = try info("FeliCa Lite-S", "02fe7017f3039e49")
        let newStates = """
            Locks      no block read-only, system blocks open
            NDEF system answers polling for 12FC
            Counter    0 writes
            Can be written, holds up to 208 bytes
            No message

            """
        #expect(new.contains("\nMemory     14 blocks of 16 bytes for data\n"), "\(new)")
        #expect(new.hasSuffix("\n" + newStates), "\(new)")
        let plain = try info("generic Type 3", "02fe7017f3039e49")
        #expect(plain.contains("\nSystem     12fc: service 0009 and 000b, 65 blocks\n"), "\(plain)")
    }

    @Test func `All that guards a Type 5 tag is in one line`() throws {
        let members = """
            "locked_blocks": [0, 3, 4, 78], "afi": "21", "dsfid": "05", "dsfid_locked": true, "eas": false, \
            "eas_locked": true, "counter": 300, "page_pointer": 32, "page_condition": "33", "private": true, \
            "persistent_quiet": true, "destroyed": true
            """
        #expect(
            try info("SLIX2", "e0040108562c08c2", members: members) == """
                Product    ICODE SLIX2, Type 5
                UID        e0040108562c08c2
                Memory     80 blocks of 4 bytes
                Map        block 0 capability container; blocks 1-78 data; block 79 counter
                Locks      blocks 0, 3-4, 78 are read-only
                AFI        21
                DSFID      05, locked
                IC         reference 01
                EAS        not set, locked
                Counter    300
                Guards     reading below block 32 needs a password, writing below block 32 needs a password, reading \
                from block 32 needs a password, writing from block 32 needs a password, private, quiet for good, \
                destroyed
                CC         e1402701
                The tag of the image does not answer.

                """
        )
        let killed = #""killed": true, "afi": "07", "afi_locked": true"#
        #expect(
            try info("ST25TV02K", "e00223662fd05d87", members: killed) == """
                Product    ST25TV02K, Type 5
                UID        e00223662fd05d87
                Memory     64 blocks of 4 bytes
                Map        block 0 capability container; blocks 1-63 data
                Locks      none
                AFI        07, locked
                DSFID      00
                IC         reference 23
                Guards     destroyed
                CC         e1401f01
                The tag of the image does not answer.

                """
        )
    }

    @Test func `A Type 5 tag may have one block alone, or a capability container of eight bytes`() throws {
        let one = """
            {"type": "T5T", "product": "generic Type 5", "uid": "e0760f43123a60e3", "block_size": 16, "blocks": 1, \
            "memory_hex": "e14002010300fe000000000000000000"}
            """
        #expect(
            try info(of: one) == """
                Product    generic Type 5, Type 5
                UID        e0760f43123a60e3
                Memory     1 block of 16 bytes
                Map        block 0 capability container
                Locks      none
                AFI        00
                DSFID      00
                IC         reference 00
                CC         e1400201
                Can be written, holds up to 10 bytes
                No message

                """
        )
        let large = images.folder.path("large.json")
        let words = ["--product", "generic Type 5", "--size", "8192", "--uid", "e0760f43123a60e3", "--out", large]
        #expect(try nfc.run(["tag", "create"] + words).status == 0)
        let lines = try nfc.run("tag", "info", "--image", large).lines
        #expect(lines.contains("CC         e2400001000003ff"), "\(lines)")
        #expect(lines.contains("Map        block 0 capability container; blocks 1-2047 data"), "\(lines)")
    }

    @Test func `A DESFire has its settings, its applications and the kinds of its files`() throws {
        let image = """
            {"type": "T4T", "product": "DESFire EV2", "uid": "042f190acd6680", "ats": "067577810280", \
            "get_version": "04010112001a0504010102011a05042f190acd6680ceedd451803119", "free_memory": 7520, \
            "random_uid": true, "format_disabled": true, \
            "applications": {"0a0b0c": {"key_settings": "0f83", "files": {}}, \
            "123456": {"key_settings": "0f0e", "files": {\
            "01": {"communication": "00", "access_rights": "ffff", "type": "backup", "data": "1337"}, \
            "1f": {"communication": "00", "access_rights": "e1f0", "type": "linear", "size": 4, "maximum": 3, \
            "data": "01020304"}}}}}
            """
        let facts = """
            Memory     7520 bytes free
            Random     another UID in each field
            Format     refused for good
            App        0a0b0c, 3 keys: no files
            App        123456, 14 keys: file 1: 2 bytes with backup, reading closed, writing closed; file 31: 1 of 3 \
            records of 4 bytes, reading free, writing with key 1
            Not formatted for messages
            The NDEF application has no capability container file E103 (NFC Forum T4T 1.2, 5.5).

            """
        let text = try info(of: image)
        #expect(text.hasSuffix("\n" + facts), "\(text)")
        let object = try nfc.run("tag", "info", "--image", images.folder.path("changed.json"), "--json").output
        let members = #""free_memory":7520,"random_uid":true,"format_disabled":true,"files":[{"application":"123456","#
        #expect(object.contains(members), "\(object)")
    }

    @Test func `A Type B card has the data of its activation, and its files have notes`() throws {
        #expect(
            try info("generic Type 4B", "1a4180e7") == """
                Product    generic Type 4, Type 4
                UID        1a4180e7
                ATQB       application data 00000000, protocol 008171
                Files      e103 with 15 bytes (capability container); e104 with 1024 bytes
                Can be written, holds up to 1022 bytes
                No message

                """
        )
    }

    @Test func `A payment card without a label is called by its name, if it has one`() throws {
        let path = images.folder.path("emv.json")
        #expect(try nfc.run("tag", "convert", Images.dump("emv.nfc"), "--out", path).status == 0)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let unlabeled = text.replacing(#""label": "TEST DEBIT", "#, with: "")
        try #require(unlabeled != text)
        #expect(try info(of: unlabeled).contains("\nApplication a0000000031010, Test Debit\n"))
        let unnamed = unlabeled.replacing(#""name": "Test Debit", "#, with: "")
        try #require(unnamed != unlabeled)
        #expect(try info(of: unnamed).contains("\nApplication a0000000031010, no label\n"))
    }
}
