// SPDX-License-Identifier: Apache-2.0
import TagImages
import VirtualTags

/// The tags of a new drawer: one of each popular kind.
enum StarterSet {
    private static let tags: [(name: String, action: JSON)] = [
        ("Poster with a link", ["product": "NTAG213", "link": "https://tagreader.example/hello"]),
        ("Empty sticker", ["product": "NTAG215"]),
        ("Hello in text", ["product": "NTAG216", "text": "Hello from the drawer"]),
        (
            "Business card",
            [
                "product": "NTAG215",
                "contact": ["name": "Erika Mustermann", "phone": "+49 30 1234567", "email": "erika@example.com"],
            ]
        ),
        ("Guest Wi-Fi", ["product": "ICODE SLIX2", "wifi": ["ssid": "Guests", "key": "correct horse"]]),
        (
            "Type 4 card",
            [
                "product": "generic Type 4", "size": 2048,
                "records": [
                    ["kind": "link", "text": "https://example.com/"], ["kind": "text", "text": "Two records"],
                ],
            ]
        ),
        ("FeliCa card", ["product": "FeliCa Lite-S", "link": "https://example.com/felica"]),
        ("DESFire card", ["product": "DESFire EV1 4K", "text": "On a DESFire"]),
        ("NTAG 424 DNA", ["product": "NTAG 424 DNA"]),
        (
            "Passport of nobody",
            [
                "mrz": """
                P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<
                L898902C36UTO7408122F1204159ZE184226B<<<<<10
                """
            ]
        ),
        ("Old door card", ["product": "MIFARE Classic 1K"]),
        ("New door card", ["product": "MIFARE Plus EV1 2K SL3"]),
        ("One-time passwords", ["product": "OATH card"]),
        ("Badge with certificates", ["product": "PIV card"]),
        ("Payment card for tests", ["product": "EMV test card"]),
    ]

    /// A transit card with invented journeys and balance in system 0003, and a purse, as Edy has it, in system FE00: its number
    /// (service 110B), balance (1317) and purchases (170F). All of that needs no key.
    private static let transitCard = """
        {"type": "T3T", "product": "FeliCa", "uid": "012e4ce19c5b1234", "pmm": "100b4b428485d0ff", "systems": {
        "0003": {"maximum_read": 12, "maximum_write": 8, "files": {
        "0088,008b": {"memory_hex": "00000000000000002000002c06000003"},
        "090c,090f": {"memory_hex": "16010002357ce303e3072c060000030016010002357be307e303d60600000200080200003579e3030000d00700000100"}},
        "areas": {"0000": {"services": [0, 3], "end": "fffe"}, "0040": {"services": [0, 1], "end": "07ff"},
        "0800": {"services": [2, 3], "end": "0fff"}}},
        "fe00": {"maximum_read": 12, "maximum_write": 8, "files": {
        "1108,110b": {"memory_hex": "00001122334455667788000000000000"},
        "1310,1317": {"memory_hex": "a8020000000000000000000000000000"},
        "170c,170f": {"memory_hex": "200000024cc8afc800000140000002a8020000014cc27788000003e8000003e8"}},
        "areas": {"0000": {"services": [0, 5], "end": "fffe"}, "1100": {"services": [0, 5], "end": "17ff"}}}}}
        """

    /// A sticker whose link has its UID, the number of readings and a code, with a key of zeros.
    private static let genuineSticker = """
        {"type": "T2T", "product": "NTAG 223 DNA", "uid": "04a1b2c3d4e523", "memory_hex": "\
        04a1b29fc3d4e523d1480000e11012000103a00c340341d1013d55046578616d706c652e636f6d2f67656e75696e653f6d3d303030303030\
        3030303030303030783030303030307830303030303030303030303030303030fe0000000000000000000000000000000000000000000000\
        000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000bd90000c3c\
        10000000"}
        """

    /// Adds the tags to an empty drawer. Skips tags that can't be created here, such as a travel document if the
    /// system's cryptography is missing.
    static func fill(_ drawer: inout Drawer) {
        for tag in tags {
            guard let contents = try? NewTag.contents(tag.action) else { continue }
            _ = try? drawer.add(name: tag.name, TagImage(contents, format: .json))
        }
        for (name, image) in [("Card for trains and shops", transitCard), ("Genuine bag", genuineSticker)] {
            if let tag = try? TagImage(parsing: Array(image.utf8)) { _ = try? drawer.add(name: name, tag) }
        }
        if let contents = try? NewTag.contents(["product": "NTAG213", "link": "https://example.com/locked"]),
            let editor = VirtualTagEditor(contents), (try? editor.lock()) != nil, let locked = editor.contents
        {
            _ = try? drawer.add(name: "Locked sticker", TagImage(locked, format: .json))
        }
    }
}
