// SPDX-License-Identifier: Apache-2.0
import Foundation
import TagImages
import TagScripts
import Testing
import VirtualTags

/// Faults of files: what is changed, and the code of the error.
struct FaultTests {
    /// A file after `=`, then `text => other :: code line`. A `-` is no error, `\n` a new line, `00*3` a word three times.
    private static let flipper = #"""
        = ntag215-uri.nfc
        Version: 4 => Version: 0 :: malformed 2
        Version: 4 => Version: 1 :: unsupported 2
        Version: 4 => Version: 99 :: unsupported 2
        Filetype: Flipper NFC device => Filetype: Flipper SubGhz Key File :: unknown-format 1
        NTAG/Ultralight type: NTAG215 => NTAG/Ultralight type: NTAG I2C Plus 3K :: unsupported 12
        Device type: NTAG/Ultralight => Device type: Jewel :: unsupported 4
        UID: 04 5E 2B 8A D1 6F 81 => UID: 04 5E 2B :: malformed 6
        ATQA: 00 44 => ATQA: 0044 :: malformed 8
        Pages total: 135 => Pages total: 3 :: malformed 21
        Pages total: 135 => Pages total: 4 :: -
        Pages total: 135 => Pages total: 2041 :: inconsistent 21
        Pages total: 135 => Pages total: 100001 :: malformed 21
        Pages total: 135 => Pages total: -1 :: malformed 21
        Pages total: 135 => Pages total: 99999999999999999999 :: malformed 21
        Pages read: 135 => Pages read: 100000 :: -
        Pages read: 135 => Pages read: 100001 :: malformed
        Counter 2: 0 => Counter 2: 16777215 :: -
        Counter 2: 0 => Counter 2: 16777216 :: malformed 19
        attempts: 0 => attempts: 4294967295 :: -
        attempts: 0 => attempts: 4294967296 :: malformed
        Page 77: 00 00 00 00 => Page 77: 00 00 00 :: -
        Page 77: 00 00 00 00 => Page 77: ?? ?? ?? ?? :: -
        Page 77: 00 00 00 00 => Page 77 :: malformed 100
        Page 77: 00 00 00 00\n => :: missing-field
        SAK: 00\n => \t SAK:\t00 \t\n :: -
        \nVersion: => \n\0Version: :: missing-field
        = type4-tag.nfc
        NDEF Data Size: 30 => NDEF Data Size: 31 :: inconsistent
        NDEF Data Size: 30 => NDEF Data Size: 32766 :: malformed
        NDEF Data: D1 => NDEF Data: D :: malformed
        SAK: 20 => SAK: 20\nSAK: 20 :: malformed
        = emv.nfc
        AID length: 7 => AID length: 17 :: malformed
        AID length: 7\nAID: A0 00 00 00 03 10 10 => AID length: 4\nAID: A0*4 :: malformed
        AID length: 7\nAID: A0 00 00 00 03 10 10 => AID length: 5\nAID: A0*5 :: -
        AID length: 7\nAID: A0 00 00 00 03 10 10 => AID length: 16\nAID: A0*16 :: -
        AID length: 7\nAID: A0 00 00 00 03 10 10 => AID length: 17\nAID: A0*17 :: malformed
        PAN length: 8 => PAN length: 9 :: malformed
        PIN try counter: 3 => PIN try counter: 255 :: -
        PIN try counter: 3 => PIN try counter: 256 :: malformed
        Effective day: 01\n => :: missing-field
        = mifare-plus.nfc
        39 D4 49 80 34 20 => 39 D4 49 80 34 :: malformed
        = iso14443-4a.nfc
        TB(1): 70\n => :: missing-field
        = desfire.nfc
        Application IDs: 56 34 12 01 00 00 => Application IDs: 56 34 12 01 00 :: malformed
        Application Count: 2 => Application Count: 29 :: malformed
        Free Memory: 7520 => Free Memory: 16777215 :: -
        Free Memory: 7520 => Free Memory: 16777216 :: malformed
        PICC Key Changeable: true\n => :: missing-field
        563412 File IDs: 01 02 03 04 => 563412 File IDs: 01 02 03 05 :: missing-field
        563412 File IDs: 01 02 03 04 => 563412 File IDs: 01 02 03 20 :: malformed
        563412 File 1 Size: 16 => 563412 File 1 Size: 17 :: malformed
        563412 File 4 Size: 32 => 563412 File 4 Size: 65535 :: -
        563412 File 4 Size: 32 => 563412 File 4 Size: 65536 :: malformed
        563412 File 3 Cur: 2 => 563412 File 3 Cur: 4 :: malformed
        563412 File 1 Type: 00 => 563412 File 1 Type: 09 :: unsupported
        Application 563412 File 2: FB FF FF FF\n => :: -
        = classic-unknown.nfc
        Block 9: ?? => Block 9: ? :: -
        Mifare Classic type: 1K => Mifare Classic type: 8K :: unsupported
        Block 0: 9C 0C 37 01 => Block 0: 9C 0C 37 :: -
        Block 0: 9C 0C 37 01 => Block 0: 9C 0C 37 01 A6 :: -
        = felica-standard.nfc
        #000-#003 => #000-#00X :: malformed
        #000-#003 => #000-#400 :: -
        #000-#003 => #000-#401 :: malformed
        Services #000-#003 => Services #000 :: malformed
        Service found: 4 => Service found: 1024 :: missing-field
        Service 003: | Code => Service 003: | Cod :: malformed
        root\n => Service 009: twice\nService 009: twice\n :: malformed
        blocks read: 3 => blocks read: 65535 :: missing-field
        blocks read: 3 => blocks read: 65536 :: malformed
        System found: 1 => System found: 0 :: malformed
        System found: 1 => System found: 16 :: missing-field
        System found: 1 => System found: 17 :: malformed
        System 00: 0003 => System 00: | 0003 :: malformed
        Block index 01 => Block index 02 :: malformed
        Data: 00 00 00 => Data: 00 00 00 00 :: malformed
        = slix2-every-password.nfc
        Block Size: 04 => Block Size: 00 :: malformed 14
        Block Size: 04 => Block Size: 21 :: malformed 14
        """#

    private static let others = #"""
        = hf-mfu-ul11-dump.json
        "mfu" => "iclass" :: unsupported
        "mfu" => "hitag" :: unsupported
        0004030101000B03 => 0004030101007F03 :: unsupported
        0004030101000B03 => 0004030101 :: malformed
        0004030101000B03 => 0004030201000B03 :: -
        0004030101000B03 => 0004050201000B03 :: unsupported
        0004030101000B03 => 0004030201000C03 :: unsupported
        0004030101000B03 => 0000000000000000 :: unsupported
        "19":  => "20":  :: missing-field
        "3": "E1100600" => "3": "E11006" :: malformed
        "Counter2": "70 => "Counter2": "7G :: malformed
        = hf-mf-1k-dump.json
        "UID": "9C0C3701" => "UID": "9C0C370102" :: malformed 5
        "63":  => "64":  :: missing-field
        = hf-15-slix2-dump.json
        "pagescount": "50" => "pagescount": "51" :: malformed
        "pagescount": "50" => "pagescount": "5000" :: -
        "pagescount": "50" => "pagescount": "500000" :: malformed
        "pagescount": "50" => "pagescount": "0000" :: malformed
        "bytesperpage": "04" => "bytesperpage": "00" :: malformed
        "bytesperpage": "04" => "bytesperpage": "21" :: malformed
        "79":  => "80":  :: missing-field
        "uid" => "id" :: missing-field
        = hf-mf-1k-dump.eml
        ff ff ff ff ff ff => ff ff ff ff ff :: malformed 9
        = hf-mfu-ntag215-dump.eml
        \n00000000\n => \n0000000\n :: malformed 12
        E1103E00\n => :: missing-field
        = taginfo-slix.xml
        <address>7</address> => <address>8</address> :: malformed
        >6F 6D FE 00< => >6F 6D FE< :: malformed
        = taginfo-classic.xml
        4D 49 46 41 => 4D 49 46 :: malformed
        <address>1</address> => :: inconsistent
        = taginfo-ntag213.xml
        NTAG213</content> => NTAG 999</content> :: unsupported
        <address>7</address> => <address>8</address> :: malformed
        04:A1:B2:C3:D4:E5:80</uid> => 04:A1</uid> :: missing-field
        04:A1:B2:C3:D4:E5:80</uid> => E0:04:01:10:11:22:33:44</uid> :: inconsistent
        34 03 10 D1 => 34 03 10 G1 :: malformed
        34 03 10 D1 => 34 03 10 D1 01 :: malformed
        </scan> => :: malformed
        </scan> => </scan>more :: malformed
        </scan> => </scan><scan/> :: malformed
        </scan> => </scan><!-- :: malformed
        </scan> => </scan>\n<!-- the end --><?x?>\n :: -
        <scan> => <svg> :: unknown-format
        <scan> => <!DOCTYPE scan [<!ENTITY a "b">]><scan> :: malformed
        <scan> => <!DOCTYPE scan SYSTEM "file:///etc/passwd"><scan> :: malformed
        <scan> => <!DOCTYPE scan [<!ENTITY % p SYSTEM "http://localhost/p">%p;]><scan> :: malformed
        <hasndef> => <hasndef a=1> :: malformed
        <hasndef> => <hasndef a="1> :: malformed
        <hasndef> => <hasndef a="1" a="2"> :: malformed
        <hasndef> => <hasndef\ta = '1'\n b="2" > :: -
        <hasndef> => <a-b.c_1:d/><hasndef> :: -
        </hasndef> => </has> :: malformed
        &amp; more => &more; more :: malformed
        &amp; more => & more :: malformed
        &amp; more => &; more :: malformed
        &amp; more => &#xD800; more :: malformed
        &amp; more => &#x110000; more :: malformed
        &amp; more => &#99999999999; more :: malformed
        &amp; more => &aaaaaaaaaaaaaaaaaaaaaaa; more :: malformed
        """#

    /// A text of a table, with its escapes replaced.
    private func plain(_ text: some StringProtocol) -> String {
        let escaped = String(text).replacing(#"\n"#, with: "\n").replacing(#"\t"#, with: "\t").replacing(
            #"\0"#,
            with: "\0"
        )
        return escaped.replacing(/([0-9A-F]{2})\*([0-9]+)/) { match in
            Array(repeating: String(match.1), count: Int(match.2) ?? 0).joined(separator: " ")
        }
    }

    private func check(_ table: String) throws {
        var file = ""
        for row in table.split(separator: "\n") {
            if row.hasPrefix("= ") {
                file = String(row.dropFirst(2))
                continue
            }
            let sides = row.components(separatedBy: " =>")
            let parts = sides[1].components(separatedBy: " :: ").map { $0.hasPrefix(" ") ? String($0.dropFirst()) : $0 }
            let (fault, end) = parts.count > 1 ? (plain(parts[0]), parts[1]) : ("", String(parts[0].dropFirst(3)))
            let expected = end.split(separator: " ")
            let text = try Files.text(file)
            let original = plain(sides[0])
            #expect(text.contains(original), "\(file): \(row)")
            let error = Files.failure(text.replacing(original, with: fault, maxReplacements: 1))
            #expect(error?.code.description ?? "-" == String(expected[0]), "\(file): \(row)")
            if expected.count > 1 { #expect(error?.line == Int(expected[1]), "\(file): \(row)") }
        }
    }

    @Test func `Faulty Flipper files: each fault throws its code with the line`() throws { try check(Self.flipper) }

    @Test func `Faulty Proxmark3 and TagInfo files: each fault throws its code`() throws { try check(Self.others) }

    // MARK: JSON

    /// What follows the common members of a whole image, and the code; `-` is no error.
    private func checkJSON(_ head: String, _ rows: String) {
        for row in rows.split(separator: "\n") {
            let sides = row.components(separatedBy: " => ")
            let text =
                "{" + head
                + sides[0].replacing(/([0-9a-f]{2})\*([0-9]+)/) { match in
                    String(repeating: String(match.1), count: Int(match.2) ?? 0)
                } + "}"
            #expect(Files.failure(text)?.code.description ?? "-" == sides[1], "\(row)")
        }
    }

    @Test func `Faulty JSON images: a missing, wrong or excessive member throws its code`() {
        checkJSON(
            "",
            #"""
            "type": "T9T", "product": "X", "uid": "00", "memory_hex": "00" => unsupported
            "type": 2 => malformed
            "type": "T2T" => missing-field
            "type": "T2T", "type": "T2T" => malformed
            "type": "T2T", "product": "NTAG424" => unsupported
            "type": "\ud800" => malformed
            "type": "\x" => malformed
            "type": tru => malformed
            "type": "T1T", "product": "Topaz 96", "uid": "01020304050607", "memory_hex": "00" => malformed
            "type": "T3T", "product": "FeliCa Lite-S", "uid": "01", "pmm": "", "memory_hex": "00" => malformed
            "type": "T4T", "product": "generic Type 4", "uid": "01020304" => missing-field
            "type": "T4T", "product": "generic Type 4", "uid": "01020304", "ats": "0102", "files": {"e1": "00"} => malformed
            "type": "T4T", "product": "DESFire EV1", "uid": "01020304050607", "ats": "01", "files": {"e103": "00"} => missing-field
            "type": "T4T", "product": "eMRTD", "uid": "08aabbcc", "mrz": "P<UTO" => malformed
            "type": "T4T", "product": "eMRTD", "uid": "08aabbcc" => missing-field
            """#
        )
        let four = #""type": "T4T", "product": "generic ISO 14443-4", "uid": "#
        checkJSON(
            "",
            """
            \(four)"01020304", "application_data": "00000000", "protocol_info": "778195" => -
            \(four)"010203", "application_data": "00000000", "protocol_info": "778195" => malformed
            \(four)"01020304", "ats": "01" => -
            \(four)"01*7", "ats": "fe75*253" => -
            \(four)"01*10", "ats": "0275" => -
            \(four)"01*7", "ats": "ff75*254" => malformed
            """.replacing("ff75*254", with: "ff" + String(repeating: "75", count: 254))
                .replacing("fe75*253", with: "fe" + String(repeating: "75", count: 253))
        )
        checkJSON(
            #""type": "T2T", "product": "NTAG213", "#,
            #"""
            "uid": "04a1b2c3d4e580", "memory_hex": "00*12" => -
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16" => -
            "uid": "04a1b2c3d4e580", "memory_hex": "00*18" => malformed
            "uid": "04a1b2c3d4e580", "memory_hex": "00*184" => inconsistent
            "uid": "04a1b2c3d4e580", "memory_hex": "0g" => malformed
            "uid": "04a1b2c3", "memory_hex": "00*16" => -
            "uid": "04a1b2", "memory_hex": "00*16" => malformed
            "uid": "00*10", "memory_hex": "00*16" => -
            "uid": "00*11", "memory_hex": "00*16" => malformed
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "failed_authentications": 4294967295 => -
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "failed_authentications": 4294967296 => malformed
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "failed_authentications": -1 => malformed
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "failed_authentications": 1.5 => malformed
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "counters": [1, 2, 16777215] => -
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "counters": [1, 2, 16777216] => malformed
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "counters": null, "sak": null => -
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "sak": "0800" => malformed
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "signature": "00" => malformed
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "tearing_flags": "0000" => malformed
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "get_version": "00040402" => malformed
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "pages": 4 => -
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "pages": 5 => inconsistent
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "pages": 0 => inconsistent
            "uid": "04a1b2c3d4e580", "memory_hex": "00*16", "pages": 100001 => malformed
            """#
        )
        checkJSON(
            #""type": "T5T", "uid": "e004015000112233", "#,
            #"""
            "product": "ICODE SLIX", "memory_hex": "00000000" => inconsistent
            "product": "ICODE SLIX", "memory_hex": "00*224", "block_size": 8 => inconsistent
            "product": "ST25TV512", "memory_hex": "00*64" => -
            "product": "ST25TV02K", "memory_hex": "00*64" => inconsistent
            "product": "ST25TV99", "memory_hex": "00*64" => unsupported
            "product": "generic Type 5", "memory_hex": "" => inconsistent
            "product": "generic Type 5", "memory_hex": "", "blocks": 0 => -
            "product": "generic Type 5", "memory_hex": "00*64", "blocks": 0 => inconsistent
            "product": "generic Type 5", "memory_hex": "00*64", "blocks": 65537 => malformed
            "product": "generic Type 5", "memory_hex": "00*64", "block_size": 0 => malformed
            "product": "generic Type 5", "memory_hex": "00*64", "block_size": 32, "blocks": 2 => -
            "product": "generic Type 5", "memory_hex": "00*64", "block_size": 32, "blocks": 16 => inconsistent
            "product": "generic Type 5", "memory_hex": "00*64", "block_size": 33 => malformed
            "product": "generic Type 5", "memory_hex": "00*64", "eas": 1 => malformed
            "product": "generic Type 5", "memory_hex": "00*64", "locked_blocks": 5 => malformed
            "product": "generic Type 5", "memory_hex": "00*64", "locked_blocks": [15] => -
            "product": "generic Type 5", "memory_hex": "00*64", "locked_blocks": [0, 16] => malformed
            "product": "generic Type 5", "memory_hex": "00*64", "counter": 65535 => -
            "product": "generic Type 5", "memory_hex": "00*64", "counter": 65536 => malformed
            "product": "ICODE SLIX2", "memory_hex": "00*316", "page_pointer": 255 => -
            "product": "ICODE SLIX2", "memory_hex": "00*316", "page_pointer": 256 => malformed
            "product": "ICODE SLIX2", "memory_hex": "00*316", "eas_id": 65535 => -
            "product": "ICODE SLIX2", "memory_hex": "00*316", "eas_id": 65536 => malformed
            "product": "ICODE SLIX2", "memory_hex": "00*316", "eas_id": -1 => malformed
            "product": "ST25TV512", "memory_hex": "00*64", "st_eas_id": 65535 => -
            "product": "ST25TV512", "memory_hex": "00*64", "st_eas_id": 65536 => malformed
            "product": "ST25TV512", "memory_hex": "00*64", "telegram_length": 3 => -
            "product": "ST25TV512", "memory_hex": "00*64", "telegram_length": 4 => malformed
            """#
        )
        checkJSON(
            #""type": "T4T", "product": "EMV card", "uid": "08010203", "ats": "01", "pan": "", "#,
            """
            "aid": "a000000003" => -
            "aid": "a0000000" => malformed
            "aid": "a000000003", "label": "\(String(repeating: "a", count: 64))" => -
            "aid": "a000000003", "label": "\(String(repeating: "a", count: 65))" => malformed
            "aid": "a000000003", "pin_tries": 0 => -
            "aid": "a000000003", "pin_tries": -1 => malformed
            "aid": "a000000003", "pin_tries": 255 => -
            "aid": "a000000003", "pin_tries": 256 => malformed
            """
        )
    }

    @Test func `Faulty JSON images without pages: a wrong UID length or a wrong unknown byte is malformed`() {
        let rows: [(Int, String, String)] = [
            (4, "0, 319", "-"), (7, "319", "-"), (10, "", "-"), (5, "0", "malformed"), (0, "0", "malformed"),
            (4, "320", "malformed"), (4, "-1", "malformed"), (4, "\"1\"", "malformed"),
        ]
        for (count, unknown, code) in rows {
            let uid = String(repeating: "5a", count: count)
            let end =
                #""atqa": "0004", "sak": "09", "memory_hex": "00*320", "unknown_octets": [\#(unknown)] => \#(code)"#
            checkJSON(#""type": "MFC", "product": "MIFARE Classic Mini", "uid": "\#(uid)", "#, end)
            let isTaken = [4, 7, 10].contains(count) ? "-" : "malformed"
            let activation = #""uid": "\#(uid)", "atqa": "0004", "sak": "09" => \#(isTaken)"#
            checkJSON(#""type": "NFCA", "product": "generic NFC-A", "#, activation)
        }
    }

    private static let image =
        #"{"type": "NFCA", "product": "generic NFC-A", "uid": "01020304", "atqa": "0004", "sak": "08", "#

    @Test func `JSON grammar: numbers, strings and nesting of RFC 8259 are read, anything else is malformed`() {
        func code(_ note: String) -> TagImageError.Code? { Files.failure("\(Self.image)\"note\": \(note)}")?.code }
        let nines = String(repeating: "9", count: 64)
        for number in ["0", "-0", "10", "-1.5", "1e5", "1E+05", "0.5e-3", "1e999", nines] {
            #expect(code(number) == nil, "\(number)")
        }
        let wrong = "01 - -inf -nan 0x10 1. 1.e5 1e +1 .5 0b1 Infinity tru nil -0x1p3 1e5e5 1..5 --1 \(nines)9"
        for number in wrong.split(separator: " ") { #expect(code(String(number)) == .malformed, "\(number)") }
        for string in [
            #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, "\"\u{1}\"", #""\x""#, #""\u12"#, "\"",
            #"{"a": 1, "b": [{"c": 1, "\u0063": 2}]}"#,
        ] { #expect(code(string) == .malformed, "\(string)") }
        for (depth, isTaken) in [(31, true), (32, false)] {
            let note = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            #expect(code(note) == (isTaken ? nil : .malformed), "The image itself is an object.")
        }
        for begin in ["[", "{\"a\":"] { #expect(code(String(repeating: begin, count: 40_000)) == .malformed) }
        let texts: [(String, TagImageError.Code)] = [
            ("", .unknownFormat), ("[]", .unknownFormat), ("{", .malformed), ("{}", .unknownFormat),
            ("{}{}", .malformed),
            (#"{"a": "# + String(repeating: "[", count: 100_000), .malformed),
            ("{}" + String(repeating: " ", count: TagImage.maximumSize - 2), .unknownFormat),
            ("{}" + String(repeating: " ", count: TagImage.maximumSize - 1), .tooLarge),
        ]
        for (text, code) in texts { #expect(Files.failure(text)?.code == code, "\(text.prefix(20))") }
        #expect(TagImage.maximumSize == 262_144)
        // Lines are counted, also behind a byte order mark.
        #expect(Files.failure("{\n\"type\": \"T2T\",\n\"product\": 3}")?.line == 3)
        #expect(Files.failure("{\n\"type\":\n\n\n?")?.line == 5)
        #expect(Files.failure("\u{FEFF}" + Self.image + "\n\"atqa\": 5,\n\n}")?.line == 4)
        #expect(Files.failure(Self.image + "\n\"uid\": \"04\"}")?.line == 2)
    }

    @Test func `XML limits: too many levels, attributes, references or blocks are malformed, with the line`() {
        for (count, code) in [(32, TagImageError.Code.missingField), (33, .malformed), (20_000, .malformed)] {
            let elements = ["scan"] + Array(repeating: "a", count: count - 1)
            let deep = elements.map { "<\($0)>" } + elements.reversed().map { "</\($0)>" }
            #expect(Files.failure(deep.joined())?.code == code, "\(count) elements")
            guard count < 100 else { continue }
            let wide = "<scan " + (0..<count).map { "a\($0)=\"\"" }.joined(separator: " ") + "/>"
            #expect(Files.failure(wide)?.code == code, "\(count) attributes")
        }
        for (count, code) in [(2048, TagImageError.Code.unsupported), (2049, .malformed)] {
            let blocks = (0..<count).map { "<block type=\"a\"><address>\($0)</address></block>" }.joined()
            #expect(Files.failure("<scan><uid>04A1B2C3</uid>\(blocks)</scan>")?.code == code)
        }
        #expect(Files.failure("<scan>" + String(repeating: "&amp;", count: 40_000))?.code == .malformed)
        #expect(Files.failure(#"<scan><a b="1" b="2"/></scan>"#)?.code == .malformed)
        for text in ["<?xml?>", "<!-- a -->\n"] { #expect(Files.failure(text)?.code == .malformed, "\(text)") }
        let text = "<?x\n?><!--\n\n-->\n<scan>\n<![CDATA[\n]]><a\nb='\n'\n>\n&a;</a></scan>"
        #expect(Files.failure(text)?.line == text.prefix { $0 != "&" }.count { $0 == "\n" } + 1)
    }

    @Test func `Unknown file: unknownFormat, or unsupported if there is no virtual tag of its kind`() {
        for bytes: [UInt8] in [[], [0], Array(repeating: 0, count: 100), Array("hello".utf8), [0xFF, 0xFE, 0x00]] {
            #expect(throws: TagImageError(.unknownFormat, "")) { try TagImage(parsing: bytes) }
        }
        let head = "Filetype: Flipper NFC device\nVersion: 4\nDevice type: ST25TB\n"
        let texts: [(String, TagImageError.Code, Int)] = [
            (head + "UID: D0 02 33 7B AA FB 4F 28\n", .unsupported, 3),
            (head + "ST25TB Type: 4K\n" + (0..<128).map { "Block \($0): 00 00 00 01\n" }.joined(), .unsupported, 3),
            ("Filetype: Flipper Picopass device\nVersion: 1\nCredential: 00 00 00 00 00 00 00 00\n", .unsupported, 1),
            ("Filetype: Flipper EMV resources\nVersion: 1\n", .unknownFormat, 1),
            ("Firmware: Flipper NFC device\nVersion: 4\n", .unknownFormat, 1),
            ("# x\nFlipper NFC device\n", .unknownFormat, 2),
        ]
        for (text, code, line) in texts {
            let error = Files.failure(text)
            #expect(error?.code == code && error?.line == line, "\(text.prefix(90))")
        }
        let rows = Array(repeating: "0011223344556677", count: 5).joined(separator: "\n")
        #expect(Files.failure(rows)?.code == .unknownFormat)
    }

    @Test func `Flipper limits: a longer line, a repeated system or too large a file of records is malformed`() throws {
        for (count, code) in [(32_768, nil), (32_769, .malformed)] as [(Int, TagImageError.Code?)] {
            let line = "Strange: " + String(repeating: "x", count: count - 9)
            let error = try Files.failure("ntag215-uri.nfc", "SAK: 00\n", "SAK: 00\n\(line)\n")
            #expect(error?.code == code && error?.line == (code == nil ? nil : 10))
        }
        let text = try Files.text("felica-keys.nfc")
        let error = Files.failure(text + "System 00: 0003\n")
        #expect(error?.code == .malformed && error?.line == text.count { $0 == "\n" } + 1)
        for (size, maximum, code) in [
            (0, 1, "malformed"), (1, 1, "-"), (65535, 1, "-"), (65536, 1, "malformed"), (256, 256, "-"),
            (257, 256, "malformed"), (1, 65535, "-"), (1, 65536, "malformed"),
        ] {
            let file = "Application 563412 File 3"
            let old = "\(file) Size: 4\n\(file) Max: 3\n\(file) Cur: 2\n\(file): 01 02 03 04 05 06 07 08\n"
            let new = "\(file) Size: \(size)\n\(file) Max: \(maximum)\n\(file) Cur: 0\n"
            let error = try Files.failure("desfire.nfc", old, new)
            #expect(error?.code.description ?? "-" == code, "\(size) \(maximum)")
        }
    }
}
