// SPDX-License-Identifier: Apache-2.0
import TagImages
import Testing

/// Files that someone wrote to break the reader of images.
@Suite struct `Hostile images` {
    private static let image =
        #"{"type": "T2T", "product": "NTAG213", "uid": "04a1b2c3d4e580", "memory_hex": "04a1b29fc3d4e58072480000e1101200", "#

    /// Why an image with a member of this text is refused; nil if it is read.
    private func failure(note text: String) -> TagImageError? { Files.failure("\(Self.image)\"note\": \(text)}") }

    @Test(arguments: ["[", "{\"a\":"])
    func `JSON that is nested too deep is refused with its line`(_ begin: String) throws {
        let error = try #require(failure(note: "\n" + String(repeating: begin, count: 40_000)))
        #expect(error.code == .malformed && error.line == 2)
        #expect(error.reason == "The JSON is not valid: the values are nested too deeply.")
    }

    @Test(arguments: [
        "01", "-", "-inf", "-nan", "0x10", "1.", "1.e5", "1e", "+1", ".5", "0b1", "Infinity", "tru", "nil", "-0x1p3",
        String(repeating: "9", count: 65), "1e5e5", "1..5", "--1",
    ])
    func `What is no number of JSON is refused`(_ text: String) throws {
        let error = try #require(failure(note: text))
        #expect(error.code == .malformed)
        #expect(error.reason.hasPrefix("The JSON is not valid: "))
    }

    @Test(arguments: ["0", "-0", "10", "-1.5", "1e5", "1E+05", "0.5e-3", "1e999", String(repeating: "9", count: 64)])
    func `Numbers of JSON are read, however large`(_ text: String) {
        #expect(failure(note: text) == nil)
    }

    @Test(arguments: ["1e999", "-1", "9999999999999999999999", "1.5"])
    func `A number out of its range is refused with the name and the line of its member`(_ text: String) throws {
        let error = try #require(Files.failure("\(Self.image)\n\"failed_authentications\": \(text)}"))
        #expect(error.code == .malformed && error.line == 2)
        #expect(error.reason.contains("\"failed_authentications\""))
    }

    @Test func `A key that comes twice is refused, at every depth`() throws {
        let outer = try #require(Files.failure(Self.image + "\n\"uid\": \"04\"}"))
        #expect(outer.code == .malformed && outer.line == 2)
        #expect(outer.reason == "\"uid\" is in line 1 already.")
        let inner = try #require(failure(note: "{\"a\": 1, \"b\": [{\n\"c\": 1, \"\\u0063\": 2}]}"))
        #expect(inner.code == .malformed && inner.line == 2)
        #expect(inner.reason == "\"c\" is in line 2 already.")
    }

    @Test(arguments: [
        #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, "\"\u{1}\"", #""\x""#, #""\u12"#, "\"",
    ])
    func `Strings that are none are refused`(_ text: String) throws {
        #expect(try #require(failure(note: text)).code == .malformed)
    }

    /// Documents that ask a reader of XML to fetch or to expand something.
    @Test(arguments: [
        #"<!DOCTYPE scan SYSTEM "file:///etc/passwd"><scan>&a;</scan>"#,
        #"<!DOCTYPE scan [<!ENTITY a SYSTEM "file:///etc/passwd">]><scan>&a;</scan>"#,
        #"<!DOCTYPE scan [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><scan>&b;</scan>"#,
        #"<!DOCTYPE scan [<!ENTITY % p SYSTEM "http://localhost/p">%p;]><scan/>"#,
    ])
    func `XML with a document type is refused before anything of it is read`(_ text: String) throws {
        let error = try #require(Files.failure("<?xml version=\"1.0\"?>\n" + text))
        #expect(error.code == .malformed && error.line == 2)
        #expect(error.reason == "Document types are not read.")
    }

    @Test(arguments: [
        "&a;", "&#xD800;", "&#x110000;", "&#99999999999;", "&;", "&#;", "& ", "&aaaaaaaaaaaaaaaaaaaaaaa;",
    ])
    func `A reference to nothing is refused`(_ reference: String) throws {
        let error = try #require(Files.failure("<scan>\n<a>\(reference)</a></scan>"))
        #expect(error.code == .malformed && error.line == 2)
    }

    @Test func `An attribute that comes twice is refused, and so are too many of them`() throws {
        let twice = try #require(Files.failure("<scan>\n<a b=\"1\" b=\"2\"/></scan>"))
        #expect(twice.code == .malformed && twice.line == 2)
        #expect(twice.reason == "\"b\" is in this element already.")
        let many = (0..<1000).map { "a\($0)=\"\"" }.joined(separator: " ")
        #expect(try #require(Files.failure("<scan>\n<a \(many)/></scan>")).line == 2)
    }
}
