// SPDX-License-Identifier: Apache-2.0
import FleetModel
import NDEF
import Testing

@Suite("Jobs")
struct JobTests {
    static let node = FleetName(slugOf: "kiosk-7")
    static let now: Int64 = 1_795_498_812_000

    static func job(_ work: Job.Work, deadline: Int64 = now + 60_000) -> Job {
        Job(
            id: "j1",
            node: node,
            deadline: deadline,
            reader: FleetName(slugOf: "entrance"),
            uid: [4, 5, 6],
            work: work
        )
    }

    static let works: [Job.Work] = [
        .write(.link("https://example.com/{serial}"), locks: true),
        .write(.text("Room 12", language: "de"), locks: false),
        .write(.bytes([0xD0, 0, 0]), locks: false), .protect(.bytes(password: [1, 2, 3, 4], acknowledgement: [5, 6])),
        .protect(.named(FleetName(slugOf: "posters"))), .lock, .indicate(.attention),
        .allow(Job.AllowChange(.add, uids: [[1, 2], [3]])), .allow(Job.AllowChange(.off)), .cancel(job: "j0"),
    ]

    @Test("Job of each kind: the same after encoding and parsing", arguments: works)
    func roundTrip(_ work: Job.Work) throws {
        let job = Self.job(work)
        #expect(try JobKeys().open(job.json.bytes, node: Self.node, now: Self.now) == job)
    }

    @Test("Signed job: read as it was signed, and refused if any byte changes it", arguments: works)
    func signed(_ work: Job.Work) throws {
        let key = SigningKey()
        let keys = JobKeys(["ops": key.publicKey])
        let job = Self.job(work)
        let payload = JobSigner(name: "ops", key: key).sign(job).bytes
        #expect(try keys.open(payload, node: Self.node, now: Self.now) == job)
        for index in payload.indices {
            var changed = payload
            changed[index] ^= 1
            // A change that leaves the same bytes signed is none, such as one of the last, unused bits of base64.
            if let other = try? keys.open(changed, node: Self.node, now: Self.now) { #expect(other == job) }
        }
    }

    @Test("Ed25519: the keys and the signature of RFC 8032, test 2; another message or a cut signature is refused")
    func signatureVector() throws {
        let seed = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
        let key = try #require(SigningKey(seed: Hex.bytes(seed) ?? []))
        let signature = key.signature(of: [0x72])
        #expect(Hex.text(key.publicKey.bytes) == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        #expect(
            Hex.text(signature) == "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        )
        #expect(key.publicKey.verifies(signature, of: [0x72]))
        #expect(!key.publicKey.verifies(signature, of: [0x73]))
        #expect(!key.publicKey.verifies(Array(signature.dropLast()), of: [0x72]))
        #expect(SigningKey(seed: [1]) == nil && VerifyingKey([1]) == nil)
    }

    @Test("Node with keys: an unsigned job, another key and another node's job are refused with their codes")
    func refusals() throws {
        let key = SigningKey()
        let keys = JobKeys(["ops": key.publicKey])
        let job = Self.job(.lock)
        func refusal(_ payload: [UInt8], _ node: FleetName = Self.node) -> JobRefusal? {
            do throws(JobRefusal) {
                _ = try keys.open(payload, node: node, now: Self.now)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal(job.json.bytes)?.code == .unsigned)
        #expect(refusal(job.json.bytes)?.job == "j1")
        let other = JobSigner(name: "ops", key: SigningKey()).sign(job).bytes
        #expect(refusal(other)?.code == .badSignature)
        #expect(refusal(JobSigner(name: "else", key: key).sign(job).bytes)?.code == .unknownKey)
        #expect(refusal(other)?.job == "j1")
        #expect(refusal(other)?.kind == "lock")
        // An id that is no name is not passed on.
        let long = JobSigner(name: "else", key: key).sign(
            Job(id: "a\n" + job.id, node: Self.node, deadline: 0, work: .lock)
        )
        #expect(refusal(long.bytes)?.job == nil)
        #expect(JobOutcome(try #require(refusal(Array(#"{"id":"a","kind":"write"}"#.utf8)))).kind == "write")
        #expect(JobOutcome(try #require(refusal(Array(#"{"id":"a","kind":"eat"}"#.utf8)))).kind == nil)
        let signed = JobSigner(name: "ops", key: key).sign(job).bytes
        #expect(refusal(signed, FleetName(slugOf: "kiosk-8"))?.code == .wrongNode)
        #expect(refusal(Array("nonsense".utf8))?.code == .badJob)
        let far = JobSigner(name: "ops", key: key).sign(Self.job(.lock, deadline: Self.now + Job.longestWait + 1))
            .bytes
        #expect(refusal(far)?.code == .badJob)
    }

    @Test(
        "Job with missing, invalid or excess members: bad-job",
        arguments: [
            #"{}"#, #"{"id":"a/b"}"#, #"{"id":"a","node":"n"}"#,
            #"{"id":"a","node":"kiosk-7","deadline":"tomorrow","kind":"lock"}"#,
            #"{"id":"a","node":"kiosk-7","deadline":"2026-11-24T06:00:00Z","kind":"eat"}"#,
            #"{"id":"a","node":"kiosk-7","deadline":"2026-11-24T06:00:00Z","kind":"lock","reader":"+"}"#,
            #"{"id":"a","node":"kiosk-7","deadline":"2026-11-24T06:00:00Z","kind":"lock","message":{"link":"x"}}"#,
            #"{"id":"a","node":"kiosk-7","deadline":"2026-11-24T06:00:00Z","kind":"write","message":{"link":"x","text":"y"}}"#,
            #"{"id":"a","node":"kiosk-7","deadline":"2026-11-24T06:00:00Z","kind":"protect","password_hex":"01"}"#,
            #"{"id":"a","node":"kiosk-7","deadline":"2026-11-24T06:00:00Z","kind":"allow","uids":["xy"]}"#,
            #"[]"#, #"{"signed":"!!"}"#,
        ]
    )
    func wrong(_ text: String) {
        #expect(throws: JobRefusal(.badJob, "")) {
            try JobKeys().open(Array(text.utf8), node: Self.node, now: Self.now)
        }
    }

    @Test(
        "Job with a member of a wrong type, or with members that exclude each other: bad-job",
        arguments: [
            #""kind":"write","message":{"link":"x:y"},"lock":"true""#,
            #""kind":"write","message":{"link":"x:y"},"lock":1"#,
            #""kind":"write","message":{"text":"a","language":7}"#,
            #""kind":"write","message":{"text":"a","language":""}"#,
            #""kind":"protect","password_hex":"01020304","pack_hex":5"#,
            #""kind":"protect","password_hex":"01020304","secret":"posters""#,
            #""kind":"protect","pack_hex":"0506","secret":"posters""#, #""kind":"protect","secret":5"#,
            #""kind":"protect","pack_hex":"01020304""#, #""kind":"protect","password_hex":5,"pack_hex":"01020304""#,
            #""kind":"protect","password_hex":"01020304 0506""#,
            #""kind":"allow","uids":["04"],"mode":5"#, #""kind":"allow","uids":["04",5]"#, #""kind":"lock","uid":4"#,
            #""kind":"allow","uids":["04"],"mode":null"#, #""kind":"allow","uids":["04"],"mode":"off""#,
            #""kind":"allow","uids":"04","mode":"off""#, #""kind":"allow""#, #""kind":"allow","uids":[""]"#,
            #""kind":"lock","reader":null"#, #""kind":"lock","uid":null"#,
        ]
    )
    func wrongKind(_ members: String) {
        let text = #"{"id":"a","node":"kiosk-7","deadline":"2026-11-24T06:00:00Z",\#(members)}"#
        #expect(throws: JobRefusal(.badJob, "")) {
            try JobKeys().open(Array(text.utf8), node: Self.node, now: Self.now)
        }
    }

    @Test(
        "Allow list whose UIDs are not an array: bad-job, not an empty list",
        arguments: [#""04e15a01""#, #""""#, "5", "{}", "null", "true", #"{"0":"04"}"#]
    )
    func noList(_ uids: String) {
        for mode in ["", #","mode":"replace""#, #","mode":"add""#, #","mode":"remove""#] {
            let members = #""kind":"allow","uids":\#(uids)\#(mode)"#
            let text = #"{"id":"a","node":"kiosk-7","deadline":"2026-11-24T06:00:00Z",\#(members)}"#
            #expect(throws: JobRefusal(.badJob, ""), "\(members)") {
                try JobKeys().open(Array(text.utf8), node: Self.node, now: Self.now)
            }
        }
    }

    /// A language of 63 bytes, the most that a record of text has room for.
    static let longestLanguage = Array(repeating: "abcdefg", count: 8).joined(separator: "-")

    @Test(
        "Write job whose message is invalid for any tag: bad-job at once",
        arguments: [
            .link("not a url"), .link("example.com"), .link(":a"), .link("https://a b"), .link("https://a\u{1B}[2J"),
            .link("{node}://a"), .link("https://example.com/{foo}"), .link("https://example.com/{uid"),
            .link("https://example.com/{uid}{"), .text("Room {serial", language: "en"),
            .text("Room", language: "en_US"), .text("Room", language: "e\u{7}"), .text("Room", language: "-en"),
            .text("Room", language: "deutsches"), .text("Room", language: "en-"),
            .text("Room", language: longestLanguage + "a"), .bytes([]), .bytes([1]), .bytes([0xD0, 0, 0, 0]),
        ] as [MessageTemplate]
    )
    func impossible(_ template: MessageTemplate) {
        let job = Self.job(.write(template, locks: false))
        #expect(throws: JobRefusal(.badJob, "")) {
            try JobKeys().open(job.json.bytes, node: Self.node, now: Self.now)
        }
    }

    @Test(
        "Message template: links of any scheme, placeholders and long language tags are valid",
        arguments: [
            .link("https://example.com/{serial}/{uid}/{node}/{reader}"), .link("tel:+4930123"), .link("MAILTO:a@b.c"),
            .link("https://example.com/ä"), .text("Zimmer {serial}\n}", language: "de-Latn-DE-1996"),
            .text("", language: "x-klingon"), .text("", language: longestLanguage), .bytes([0xD0, 0, 0]),
        ] as [MessageTemplate]
    )
    func possible(_ template: MessageTemplate) throws { try template.check() }

    @Test("A deadline may be 7 days from now, and a list may have 10,000 UIDs; no more")
    func limits() throws {
        func open(_ job: Job) throws(JobRefusal) -> Job {
            try JobKeys().open(job.json.bytes, node: Self.node, now: Self.now)
        }
        let latest = Self.job(.lock, deadline: Self.now + 7 * 86_400_000)
        #expect(try open(latest) == latest)
        #expect(throws: JobRefusal(.badJob, "")) { try open(Self.job(.lock, deadline: latest.deadline + 1)) }
        let uids = (0..<10_000).map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let longest = Self.job(.allow(.init(.replace, uids: uids)))
        #expect(try open(longest) == longest)
        let longer = Self.job(.allow(.init(.replace, uids: uids + [[1]])))
        #expect(throws: JobRefusal(.badJob, "")) { try open(longer) }
    }

    @Test("Link template: its placeholders are filled")
    func template() throws {
        let values = MessageTemplate.Values(
            serial: 17,
            uid: [4, 0xAB],
            node: Self.node,
            reader: FleetName(slugOf: "entrance")
        )
        let link = MessageTemplate.link("https://example.com/{node}/{reader}/{serial}?u={uid}")
        #expect(link.needsSerial)
        let expected = NDEFMessage([try .uri("https://example.com/kiosk-7/entrance/17?u=04ab")])
        #expect(try link.message(values) == expected.encoded())
        #expect(throws: JobRefusal(.badJob, "")) { try MessageTemplate.bytes([1]).message(values) }
    }

    @Test("Tag secret: its description does not show the password")
    func secrecy() throws {
        let secret = try #require(TagSecret(file: "a1b2c3d4 e5f6\n"))
        #expect(secret == .bytes(password: [0xA1, 0xB2, 0xC3, 0xD4], acknowledgement: [0xE5, 0xF6]))
        #expect(!"\(secret)".contains("a1") && !"\(secret)".contains("161"))
        #expect(TagSecret(file: "a1b2c3") == nil)
    }
}
