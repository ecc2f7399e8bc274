// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import Testing

@Suite struct `What crosses to the app` {
    @Test func `A payload survives its encoding`() throws {
        let message = try Fixture.message(Fixture.link)
        let payload = try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: Fixture.link,
            message: message
        )
        #expect(try UserActivityPayload(json: payload.json) == payload)
        #expect(
            String(decoding: payload.json, as: UTF8.self).hasPrefix(
                #"{"activity_type":"NSUserActivityTypeBrowsingWeb","ndef_message":""#
            )
        )
        #expect(String(decoding: payload.json, as: UTF8.self).hasSuffix(#","webpage_url":"\#(Fixture.link)"}"#))
        for count in 0..<payload.json.count {
            #expect(throws: UserActivityPayload.Problem.self) {
                try UserActivityPayload(json: Array(payload.json.prefix(count)))
            }
        }
    }

    @Test func `The link has to be that of the message`() throws {
        let message = try Fixture.message(Fixture.link)
        for (type, url, bytes) in [
            ("other", Fixture.link, message), (UserActivityPayload.browsingWeb, "https://evil.example/", message),
            (UserActivityPayload.browsingWeb, Fixture.link, Array(message.dropLast())),
            (UserActivityPayload.browsingWeb, "tel:1", try Fixture.message("tel:1")),
            (UserActivityPayload.browsingWeb, Fixture.link, Array(repeating: 0, count: 70_000)),
        ] {
            #expect(throws: UserActivityPayload.Problem.self) {
                try UserActivityPayload(activityType: type, webpageURL: url, message: bytes)
            }
        }
    }

    @Test func `The largest message survives its encoding too, and one byte more is too large`() throws {
        func payload(_ message: [UInt8]) throws(UserActivityPayload.Problem) -> UserActivityPayload {
            try UserActivityPayload(
                activityType: UserActivityPayload.browsingWeb,
                webpageURL: Fixture.link,
                message: message
            )
        }
        let count = UserActivityPayload.maximumMessageSize
        let largest = try payload(Fixture.message(Fixture.link, count: count))
        #expect(largest.message.count == count)
        #expect(try UserActivityPayload(json: largest.json) == largest)
        let larger = try Fixture.message(Fixture.link, count: count + 1)
        #expect(throws: UserActivityPayload.Problem.self) { try payload(larger) }
    }

    @Test func `A link outside of ASCII arrives as it was shown`() throws {
        let message = try Fixture.message("https://bücher.example/ü")
        let delivery = try #require(Delivery(message: message, router: LinkRouter()))
        #expect(delivery == .browser("https://xn--bcher-kva.example/%C3%BC"))
    }
}
