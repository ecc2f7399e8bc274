// SPDX-License-Identifier: Apache-2.0
import TestThreads
import Testing

@Suite(.ownThreads) struct `Wrong usage of nfc tag` {
    private static let formats = "flipper, json, proxmark-json, proxmark-bin, proxmark-eml, mfd."
    private static let document = "--mrz makes a travel document. Leave out --product, --size and --message."
    private static let lengths = "The UID of a travel document has 4, 7 or 10 bytes."
    /// All that have the name, which are as many as are named.
    private static let mifare = """
        'mifare' can be MIFARE Ultralight, MIFARE Ultralight C, MIFARE Ultralight EV1 UL11, MIFARE Ultralight EV1 UL21, \
        MIFARE Classic Mini, MIFARE Classic 1K, MIFARE Plus 2K, MIFARE Classic 4K. Write more of the name.
        """
    private static let ntag = """
        'ntag' can be NTAG203, NTAG210, NTAG212, NTAG213, NTAG215, NTAG216, NTAG I2C 1K, NTAG I2C 2K and 1 more. \
        Write more of the name.
        """

    /// The words after `nfc tag`, and what is said.
    static let rows: [(String, String)] = [
        ("create --out x.json", "Give --product NAME, or --list for the names."),
        ("create --product NTAG213", "Give --out FILE."),
        (
            "create --product NTAG213 --out x",
            "The name 'x' does not give a format. Add --format with one of: " + formats
        ),
        (
            "create --product NTAG213 --out x.xml",
            "TagInfo reports can only be read. Add --format with one of: " + formats
        ),
        (
            "create --product NTAG999 --out x.json",
            "There is no product 'NTAG999'. To see the products: nfc tag create --list"
        ),
        ("create --product - --out x.json", "There is no product '-'. To see the products: nfc tag create --list"),
        (
            "create --product topaz --out x.json",
            "'topaz' can be Topaz 96, Topaz 512. Write more of the name."
        ),
        (
            "create --product desfire --out x.json",
            "'desfire' can be DESFire EV1 2K, DESFire EV1 4K, DESFire EV1 8K. Write more of the name."
        ),
        ("create --product mifare --out x.json", mifare), ("create --product ntag --out x.json", ntag),
        (
            "create --product NTAG213 --uid 0401 --out x.json",
            "A UID of NTAG213 has 7 bytes, which are 14 hex digits."
        ),
        (
            "create --product Classic1K --uid 0401 --out x.json",
            "A UID of MIFARE Classic 1K has 4 or 7 bytes, which are 8 or 14 hex digits."
        ),
        ("create --product SLIX --size 300 --out x.json", "The size of ICODE SLIX is fixed. Leave out --size."),
        ("create --product genericType4 --size 4 --out x.json", "The size of generic Type 4 is 5 to 32767 bytes."),
        ("create --product genericType4 --size 32768 --out x.json", "The size of generic Type 4 is 5 to 32767 bytes."),
        ("create --mrz x --product NTAG213 --out x.json", document), ("create --mrz x --size 5 --out x.json", document),
        ("create --mrz x --message d00000 --out x.json", document),
        ("create --mrz x --uid 0401020304 --out x.json", lengths),
        ("create --mrz x --uid 040102 --out x.json", lengths),
        ("create --mrz x", "Give --out FILE."),
        ("convert x --out -", "The name '-' does not give a format. Add --to with one of: " + formats),
        (
            "read --image x --reader y --timeout 3",
            "Give --image FILE or --reader READER, not both: a tag is in one place."
        ),
        ("info --image x --timeout 3", "--timeout is only for a reader. Leave it out with --image."),
        ("read --id 4 --timeout 0", "--id works only on an image. Give it with --image FILE."),
        ("read --timeout 0", "--timeout takes more than 0 and at most 60 seconds."),
        ("read --out x", "--out works only on an image. Give it with --image FILE."),
        ("write --out x --tear-after 1 a:b", "--out works only on an image. Give it with --image FILE."),
        ("write --tear-after 1 a:b", "--tear-after works only on an image. Give it with --image FILE."),
        ("write --image x --tear-after=-1 a:b", "--tear-after takes 0 or a higher number."),
        (
            "write --image - a:b",
            "The image comes from standard input. Give a place to save it: --out FILE, or --out - for standard output."
        ),
    ]

    @Test(arguments: rows) func `It says what to give`(words: String, message: String) throws {
        let outcome = try Command(name: "nfc").run(["tag"] + words.split(separator: " ").map(String.init))
        #expect(outcome.status == 2 && outcome.output == "")
        #expect(outcome.error.hasPrefix("Error: \(message)\n"), "\(outcome)")
    }

    @Test(arguments: [
        ("convert x --to json --out -", true), ("read --image x --out -", true), ("write --image x --out - a:b", true),
        ("create --product NTAG213 --format json --out -", true), ("convert x --out -", false), ("read --out -", false),
    ]) func `An image on standard output leaves no place for JSON, which is said last`(words: String, isSaid: Bool)
        throws
    {
        let arguments = ["tag"] + words.split(separator: " ").map(String.init) + ["--json"]
        let object = try #require(try Command(name: "nfc").run(arguments).objects().first)
        let said = "Standard output is the image, so --json can't use it. Name a file with --out."
        #expect(object["error"] as? String == "usage")
        #expect((object["message"] as? String == said) == isSaid, "\(object)")
    }

    @Test(
        arguments: [
            ("felica", "FeliCa Lite-S"), ("Type4B", "generic Type 4"), ("ntag424", "NTAG 424 DNA"), ("512", nil),
            // The whole name of one product is a part of another one's.
            ("slix", "ICODE SLIX"), ("generic Type 4", "generic Type 4"),
        ] as [(String, String?)]
    ) func `A part of a name is enough where one product has it`(
        name: String,
        product: String?
    ) throws {
        let images = try Images()
        let words = ["tag", "create", "--product", name, "--out", images.folder.path("made.json"), "--json"]
        let outcome = try Command(name: "nfc").run(words)
        let object = try #require(try outcome.objects().first)
        #expect(object["product"] as? String == product && (object["error"] as? String == "usage") == (product == nil))
    }

    @Test(arguments: ["5", "32767"]) func `The smallest and the largest size are taken`(size: String) throws {
        let images = try Images()
        let words = ["--product", "generic Type 4", "--size", size, "--out", images.folder.path("sized.json")]
        let outcome = try Command(name: "nfc").run(["tag", "create"] + words)
        #expect(outcome.status == 0, "\(outcome.error)")
    }
}
