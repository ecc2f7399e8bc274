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
    ]

    /// Adds the tags to an empty drawer. Skips tags that can't be created here, such as a travel document if the
    /// system's cryptography is missing.
    static func fill(_ drawer: inout Drawer) {
        for tag in tags {
            guard let contents = try? NewTag.contents(tag.action) else { continue }
            _ = try? drawer.add(name: tag.name, TagImage(contents, format: .json))
        }
        if let contents = try? NewTag.contents(["product": "NTAG213", "link": "https://example.com/locked"]),
            let editor = VirtualTagEditor(contents), (try? editor.lock()) != nil, let locked = editor.contents
        {
            _ = try? drawer.add(name: "Locked sticker", TagImage(locked, format: .json))
        }
    }
}
