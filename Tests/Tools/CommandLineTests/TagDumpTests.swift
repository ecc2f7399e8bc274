// SPDX-License-Identifier: Apache-2.0
import TestThreads
import Testing

/// What people read of tags that others have dumped.
@Suite(.ownThreads) struct `What nfc tag info says of dumps` {
    struct Dump: Sendable, CustomTestStringConvertible {
        var name: String
        var facts: String
        var testDescription: String { name }
    }

    static let dumps = [
        Dump(
            name: "desfire.nfc",
            facts: """
                Product    DESFire EV2, Type 4
                UID        042f190acd6680
                Answers    ATQA 0344, SAK 20
                ATS        067577810280
                Version    04010112001a0504010102011a05042f190acd6680ceedd451803119
                Memory     7520 bytes free
                App        123456, 14 keys: file 1: 16 bytes, reading free, writing free; file 2: value -5, reading \
                free, writing free; file 3: 2 of 3 records of 4 bytes, reading free, writing free; file 4: 32 \
                bytes, reading with key 1 or 3, writing with key 1 or 2
                App        000001, 1 key: file 1: 15 bytes, reading free, writing with key 0; file 2: 64 bytes, \
                reading free, writing free
                Can be written, holds up to 62 bytes
                Message: 1 record, 16 bytes
                  1. URI, 12 bytes, type U
                     https://example.com
                """
        ),
        Dump(
            name: "felica-keys.nfc",
            facts: """
                Product    FeliCa, Type 3
                UID        012e3d123456789a
                PMm        100b4b428485d0ff
                System     0003: service 0048 and 004a, needs a key; service 008b, 1 block
                System     fe00: service 0050, needs a key; service 1009, 1 block; service 100b, 2 blocks
                Not formatted for messages
                The tag does not have the NDEF system 12FC (NFC Forum T3T 1.0, 3.2).
                """
        ),
        Dump(
            name: "hf-15-slix2-dump.json",
            facts: """
                Product    ICODE SLIX2, Type 5
                UID        e004010811223344
                Memory     80 blocks of 4 bytes
                Map        block 0 capability container; blocks 1-78 data; block 79 counter
                Locks      blocks 0, 3 are read-only
                AFI        21, locked
                DSFID      05
                IC         reference 01
                EAS        set
                Counter    300
                CC         e1402701
                Can be written, holds up to 308 bytes
                Message: 1 record, 16 bytes
                  1. URI, 12 bytes, type U
                     https://example.com
                """
        ),
        Dump(
            name: "slix2-every-password.nfc",
            facts: """
                Product    ICODE SLIX2, Type 5
                UID        e004010811223344
                Memory     80 blocks of 4 bytes
                Map        block 0 capability container; blocks 1-78 data; block 79 counter
                Locks      block 0 is read-only
                AFI        21, locked
                DSFID      05
                IC         reference 01
                EAS        set, locked
                Counter    300
                Guards     writing from block 32 needs a password
                Signature  000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
                CC         e1402701
                Can be written, holds up to 308 bytes
                No message
                """
        ),
        Dump(
            name: "hf-mfu-ul11-dump.json",
            facts: """
                Product    MIFARE Ultralight EV1 UL11, Type 2
                UID        04a1b2c3d4e580
                Answers    ATQA 0044, SAK 00
                Version    0004030101000b03
                Signature  404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f
                Memory     20 pages, 48 bytes for data
                Map        pages 0-1 UID; page 2 UID and static locks; page 3 capability container; pages 4-15 \
                data; pages 16-19 configuration and password
                Locks      none (static 0000)
                Counters   0 at 12, 1 at 0, 2 at 70000
                CC         e1100600
                Can be written, holds up to 46 bytes
                Message: 1 record, 16 bytes
                  1. URI, 12 bytes, type U
                     https://example.com
                """
        ),
        Dump(
            name: "iso14443-3a.nfc",
            facts: """
                Product    generic NFC-A
                UID        34196d41
                Answers    ATQA 0004, SAK 20
                Not formatted for messages
                The image has only the tag's activation data, and no memory.
                """
        ),
        Dump(
            name: "iso14443-3b.nfc",
            facts: """
                Product    generic ISO 14443-4, Type 4
                UID        11223344
                ATQB       application data 00000001, protocol 008171
                Card       only its activation is known
                Not formatted for messages
                The card has no NDEF Tag Application: SELECT gave 6A82 (NFC Forum T4T 1.2, 5.5).
                """
        ),
        Dump(
            name: "mifare-plus.nfc",
            facts: """
                Product    MIFARE Plus, Type 4
                UID        04112233445566
                Answers    ATQA 0042, SAK 20
                ATS        0c75778002c105213000f6d1
                Card       Mifare Plus EV2, of which only the version is known
                Version    040201220016040402010202160404112233445566cf39d449803420
                Not formatted for messages
                The card has no NDEF Tag Application: SELECT gave 6A82 (NFC Forum T4T 1.2, 5.5).
                """
        ),
        Dump(
            name: "ntagi2c2k.nfc",
            facts: """
                Product    NTAG I2C 2K, Type 2
                UID        040b7c229e4080
                Answers    ATQA 0044, SAK 00
                Version    0004040502011503
                Signature  0897d522b8bebe50971e5fed691ac2bf47815a51ec493ae28908cb36ed965b81
                Memory     490 pages, 1904 bytes for data
                Map        pages 0-1 UID; page 2 UID and static locks; page 3 capability container; pages 4-479 \
                data; page 480 dynamic locks
                Locks      none (static 0000, dynamic 000000)
                CC         e110ea00
                Can be written, holds up to 1868 bytes
                Message: 1 record, 27 bytes
                  1. URI, 23 bytes, type U
                     https://example.net/meter/0457
                """
        ),
        Dump(
            name: "taginfo-slix.xml",
            facts: """
                Product    ICODE SLIX, Type 5
                UID        e004011011223344
                Memory     28 blocks of 4 bytes
                Map        block 0 capability container; blocks 1-27 data
                Locks      block 2 is read-only
                AFI        21
                DSFID      05
                IC         reference 01
                EAS        set
                CC         e1400d01
                Can be written, holds up to 102 bytes
                Message: 1 record, 16 bytes
                  1. URI, 12 bytes, type U
                     https://example.com
                """
        ),
        Dump(
            name: "type4-tag.nfc",
            facts: """
                Product    generic Type 4, Type 4
                UID        042f190acd6680
                Answers    ATQA 0344, SAK 20
                ATS        067577810280
                Files      e103 with 15 bytes (capability container); e104 with 2048 bytes
                Can be written, holds up to 2046 bytes
                Message: 1 record, 30 bytes
                  1. URI, 26 bytes, type U
                     https://example.com/a/longer/link
                """
        ),
        Dump(
            name: "ultralight.nfc",
            facts: """
                Product    MIFARE Ultralight, Type 2
                UID        04993102e52d80
                Answers    ATQA 0044, SAK 00
                Version    no GET_VERSION
                Signature  5b9001d55751222f7967ce6df050256ffd5a27a8ce0bb84cc218a3aaa1924b45
                Memory     16 pages, 48 bytes for data
                Map        pages 0-1 UID; page 2 UID and static locks; page 3 capability container; pages 4-15 data
                Locks      none (static 0000)
                CC         e1100600
                Can be written, holds up to 46 bytes
                Message: 1 record, 21 bytes
                  1. URI, 17 bytes, type U
                     http://www.example.com/t/81
                """
        ),
        Dump(
            name: "classic-unknown.nfc",
            facts: """
                Product    MIFARE Classic 1K
                UID        9c0c3701
                Answers    ATQA 0004, SAK 08
                Memory     64 blocks of 16 bytes in 16 sectors
                Map        block 0 UID and manufacturer; blocks 1-63 data; the last one of a sector has its keys \
                and rights
                Unknown    902 bytes could not be read
                Not formatted for messages
                The tag answers as a MIFARE Classic 1K: its memory is behind a cipher of its own, and phones do not \
                read it as NDEF.
                """
        ),
    ]

    @Test(arguments: dumps) func `Each fact is a line`(dump: Dump) throws {
        let outcome = try Command(name: "nfc").run("tag", "info", "--image", Images.dump(dump.name))
        #expect(outcome.status == 0)
        #expect(outcome.output == dump.facts + "\n")
    }

    static let objects: [(String, String)] = [
        (
            "desfire.nfc",
            #"""
            {"ok":true,"tag_type":4,"product":"DESFire EV2","uid":"042f190acd6680","atqa":"0344","sak":"20",\#
            "ats":"067577810280","version_hex":"04010112001a0504010102011a05042f190acd6680ceedd451803119",\#
            "free_memory":7520,"files":[{"application":"123456","file":1,"content":"16 bytes",\#
            "rights":"reading free, writing free"},{"application":"123456","file":2,"content":"value -5",\#
            "rights":"reading free, writing free"},{"application":"123456","file":3,\#
            "content":"2 of 3 records of 4 bytes","rights":"reading free, writing free"},{"application":"123456",\#
            "file":4,"content":"32 bytes","rights":"reading with key 1 or 3, writing with key 1 or 2"},\#
            {"application":"000001","file":1,"content":"15 bytes","rights":"reading free, writing with key 0"},\#
            {"application":"000001","file":2,"content":"64 bytes","rights":"reading free, writing free"}],\#
            "status":"read-write","capacity":62,"message_hex":"d1010c55046578616d706c652e636f6d","ndef_error":null,\#
            "offset":null,"message":null,"remarks":[{"kind":"missing",\#
            "message":"The data of Application 563412 File 4 are not in the file; the virtual tag has zeros, or no \#
            records."}]}
            """#
        ),
        (
            "felica-keys.nfc",
            #"""
            {"ok":true,"tag_type":3,"product":"FeliCa","uid":"012e3d123456789a","pmm":"100b4b428485d0ff",\#
            "services":[{"system":"0003","services":"0048,004a","blocks":0,"needs_key":true},{"system":"0003",\#
            "services":"008b","blocks":1,"needs_key":false},{"system":"fe00","services":"0050","blocks":0,\#
            "needs_key":true},{"system":"fe00","services":"1009","blocks":1,"needs_key":false},{"system":"fe00",\#
            "services":"100b","blocks":2,"needs_key":false}],"status":"not-ndef","capacity":null,\#
            "message_hex":null,"ndef_error":"no-cc","offset":null,\#
            "message":"The tag does not have the NDEF system 12FC (NFC Forum T3T 1.0, 3.2).","remarks":[]}
            """#
        ),
        (
            "type4-tag.nfc",
            #"""
            {"ok":true,"tag_type":4,"product":"generic Type 4","uid":"042f190acd6680","atqa":"0344","sak":"20",\#
            "ats":"067577810280","files":[{"file":"e103","size":15,"note":"capability container"},{"file":"e104",\#
            "size":2048}],"status":"read-write","capacity":2046,"message_hex":"d1011a55046578616d706c652e636f6d2f61\#
            2f6c6f6e6765722f6c696e6b","ndef_error":null,"offset":null,"message":null,"remarks":[{"kind":"missing",\#
            "message":"The file does not have the capability container; the virtual tag has the one that a Flipper \#
            emulates."}]}
            """#
        ),
        (
            "iso14443-3a.nfc",
            #"""
            {"ok":true,"tag_type":null,"product":"generic NFC-A","uid":"34196d41","atqa":"0004","sak":"20",\#
            "status":"not-ndef","capacity":null,"message_hex":null,"ndef_error":"unsupported","offset":null,\#
            "message":"The image has only the tag's activation data, and no memory.","remarks":[{"kind":"missing",\#
            "message":"The image has no more of the tag than its activation."}]}
            """#
        ),
        (
            "iso14443-3b.nfc",
            #"""
            {"ok":true,"tag_type":4,"product":"generic ISO 14443-4","uid":"11223344","application_data":"00000001",\#
            "protocol_info":"008171","status":"not-ndef","capacity":null,"message_hex":null,"ndef_error":"no-cc",\#
            "offset":null,"message":"The card has no NDEF Tag Application: SELECT gave 6A82 (NFC Forum T4T 1.2, \#
            5.5).","remarks":[{"kind":"missing","message":"The image has no more of the card than its \#
            activation."}]}
            """#
        ),
        (
            "classic-unknown.nfc",
            #"""
            {"ok":true,"tag_type":null,"product":"MIFARE Classic 1K","uid":"9c0c3701","atqa":"0004","sak":"08",\#
            "blocks":64,"sectors":16,"memory_size":1024,"map":[{"unit":"block","first":0,"last":0,\#
            "what":"UID and manufacturer"},{"unit":"block","first":1,"last":63,\#
            "what":"data; the last one of a sector has its keys and rights"}],"unknown_octets":902,\#
            "status":"not-ndef","capacity":null,"message_hex":null,"ndef_error":"unsupported","offset":null,\#
            "message":"The tag answers as a MIFARE Classic 1K: its memory is behind a cipher of its own, and phones \#
            do not read it as NDEF.","remarks":[{"kind":"missing","message":"902 bytes in 15 sectors were not read; the \#
            virtual tag has zeros there."}]}
            """#
        ),
        (
            "slix2-every-password.nfc",
            #"""
            {"ok":true,"tag_type":5,"product":"ICODE SLIX2","uid":"e004010811223344","blocks":80,"block_size":4,\#
            "memory_size":320,"map":[{"unit":"block","first":0,"last":0,"what":"capability container"},\#
            {"unit":"block","first":1,"last":78,"what":"data"},{"unit":"block","first":79,"last":79,\#
            "what":"counter"}],"locked_blocks":[0],"afi":"21","dsfid":"05","afi_locked":true,"dsfid_locked":false,\#
            "ic_reference":"01","eas":true,"counter":300,"guards":"writing from block 32 needs a password",\#
            "signature_hex":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f","cc_hex":"e1402701",\#
            "status":"read-write","capacity":308,"message_hex":"","ndef_error":null,"offset":null,"message":null,\#
            "remarks":[]}
            """#
        ),
        (
            "hf-mfu-ul11-dump.json",
            #"""
            {"ok":true,"tag_type":2,"product":"MIFARE Ultralight EV1 UL11","uid":"04a1b2c3d4e580","atqa":"0044",\#
            "sak":"00","version_hex":"0004030101000b03","signature_hex":"404142434445464748494a4b4c4d4e4f5051525354\#
            55565758595a5b5c5d5e5f","pages":20,"memory_size":80,"user_size":48,"map":[{"unit":"page","first":0,\#
            "last":1,"what":"UID"},{"unit":"page","first":2,"last":2,"what":"UID and static locks"},{"unit":"page",\#
            "first":3,"last":3,"what":"capability container"},{"unit":"page","first":4,"last":15,"what":"data"},\#
            {"unit":"page","first":16,"last":19,"what":"configuration and password"}],"static_lock_hex":"0000",\#
            "locked_pages":[],"counters":[12,0,70000],"cc_hex":"e1100600","status":"read-write","capacity":46,\#
            "message_hex":"d1010c55046578616d706c652e636f6d","ndef_error":null,"offset":null,"message":null,\#
            "remarks":[]}
            """#
        ),
    ]

    @Test(arguments: objects) func `Programs read the same as one object, whose members have their order`(
        name: String,
        object: String
    ) throws {
        let outcome = try Command(name: "nfc").run("tag", "info", "--image", Images.dump(name), "--json")
        #expect(outcome.status == 0)
        #expect(outcome.output == object + "\n")
    }
}
