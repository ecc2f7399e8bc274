// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing
import UniversalLinks

@Suite struct `Descriptions of apps` {
    private func description(_ text: String) throws(AppDescription.Problem) -> AppDescription {
        try AppDescription(parsing: Array(text.utf8))
    }

    @Test func `A description has an identifier and associated domains`() throws {
        let app = try description(
            #"{"app_id":"T.org.x","associated_domains":["applinks:*.Bücher.example?mode=developer","nonsense"],"x":1}"#
        )
        #expect(app.id == "T.org.x")
        #expect(app.associatedDomains.map(\.entry) == ["applinks:*.xn--bcher-kva.example?mode=developer"])
        #expect(app.remarks.count == 1)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"app_id":"x","associated_domains":[]}"#, #"{"app_id":"T.x/../y","associated_domains":[]}"#,
        #"{"app_id":"T.x"}"#, #"{"app_id":5,"associated_domains":[]}"#, #"{"app_id":"T..x","associated_domains":[]}"#,
    ])
    func `An invalid description gives a reason`(text: String) {
        #expect(throws: AppDescription.Problem.self) { try description(text) }
    }

    @Test(arguments: [
        ("T.a_b", true), ("T.a\u{E9}", false), ("T.a", true), ("T.a-b.C9", true), ("T", false), ("T..a", false),
    ])
    func `Descriptions of apps and association files have the same identifiers`(id: String, isOne: Bool) {
        #expect(AssociationFile.isIdentifier(id) == isOne && AppDescription.isIdentifier(id) == isOne)
        let found = try? description(#"{"app_id":"\#(id)","associated_domains":[]}"#)
        #expect(found?.id == (isOne ? id : nil))
    }

    @Test func `Size, depth and number are bounded`() throws {
        #expect(throws: AppDescription.Problem.self) { try description(String(repeating: "[", count: 60_000)) }
        #expect(throws: AppDescription.Problem.self) { try description(String(repeating: " ", count: 70_000)) }
        let many = Array(repeating: #""applinks:a.example""#, count: 500).joined(separator: ",")
        let app = try description(#"{"app_id":"T.x","associated_domains":[\#(many)]}"#)
        #expect(app.associatedDomains.count == AppDescription.maximumDomains)
        #expect(app.remarks.count == 1)
    }

    @Test func `Of a desktop entry the first group counts`() throws {
        let text = """
            # A comment
            [Desktop Entry]
            Type=Application
            Name = Reader\u{202E}
            Name[de]=Leser
            DBusActivatable=true
            MimeType=text/plain;x-scheme-handler/READER;x-scheme-handler/https;x-scheme-handler/file;
            Exec=sh -c evil
            [Desktop Action x]
            Name=Other
            """
        let entry = try #require(DesktopEntry(parsing: Array(text.utf8)))
        #expect(entry.name == "Reader\u{FFFD}")
        #expect(entry.isBusActivated)
        #expect(entry.schemes == ["reader"])
        #expect(DesktopEntry(parsing: Array(text.replacing("Application", with: "Link").utf8)) == nil)
        #expect(DesktopEntry(parsing: [0xFF, 0xFE]) == nil)
        #expect(DesktopEntry(parsing: Array((text.replacing("Exec", with: "Hidden=true\nExec")).utf8)) == nil)
        for name in ["../x", "a/b", "", "a..b", "a b", "a\u{0}b"] { #expect(!DesktopEntry.isName(name)) }
    }

    @Test func `Of a key that a desktop entry has twice the first counts`() {
        let text = "[Desktop Entry]\nType=Application\nName=First\nName=Second\n[Desktop Entry]\nName=Third\n"
        #expect(DesktopEntry(parsing: Array(text.utf8))?.name == "First")
    }

    @Test func `The object of an app is named after its entry`() {
        #expect(DeliveryInterface.objectPath(of: "org.example.My-App") == "/org/example/My_App")
        for name in ["reader", "org.1x", "org..x", "org/x.y"] { #expect(DeliveryInterface.objectPath(of: name) == nil) }
        #expect(DeliveryInterface.introspection.contains(DeliveryInterface.name))
        #expect(DeliveryInterface.introspection.contains(DeliveryInterface.method))
    }

    @Test(arguments: [
        ("example.org", "write a service before it"), ("https://example.org", "it is a URL"),
        ("http://example.org", "it is a URL"),
        ("applinks:https://example.org", "without its scheme, as in applinks:example.org"),
        ("applinks:example.org/x", "without a path"), ("applinks:example.org:8443", "without a port"),
        ("applinks:", "it has no domain"), ("applinks:a b", "a blank"), ("applinks:*", "a wildcard stands first"),
        ("applinks:a.*.example", "a wildcard stands first"), ("applinks:a.example?mode=x", "its mode is not"),
        ("applinks:a..example", "can't be the name of a domain"), ("applinks:a_!.example", "can't be the name"),
        ("applinks:1.2.3.4", "is an address"), ("applinks:localhost", "has no dot"),
        ("applinks:[::1]", "is an address"),
    ])
    func `An entry that can't be one says what to write`(entry: String, reason: String) throws {
        let text = #"{"app_id":"TEAM.a.b","associated_domains":["\#(entry)","applinks:good.example"]}"#
        let description = try AppDescription(parsing: Array(text.utf8))
        #expect(description.associatedDomains.map(\.domain) == ["good.example"])
        #expect(description.remarks.count == 1)
        #expect(description.ignoredDomains == [entry])
        #expect(description.remarks.first?.hasPrefix("The entry \"\(entry)\" is ignored: ") == true)
        #expect(description.remarks.first?.contains(reason) == true, "\(description.remarks)")
    }
}
