// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinkFetching
import NFCReaders
import Testing

@testable import nfc

/// What commands make of their options and of the variables of the process. Nothing is run.
@Suite struct `What options mean` {
    private let own = ReaderConfiguration(reader: "pcsc", tags: "t", cardReader: "pcsc:C", recording: "r")

    @Test func `A session has the reader of the process where no option says otherwise`() throws {
        let none = try ReaderOptions.parse([])
        #expect(none.configuration(over: own) == own)
        #expect(none.configuration(over: own, savesTags: true) == own)
        #expect(none.configuration(over: own, recording: "x").recording == "x")
        #expect(none.configuration(over: own, recording: "").recording == nil)
        var saving = own
        saving.savesTags = true
        #expect(none.configuration(over: saving) == saving)
        var patient = own
        patient.patience = .seconds(0.5)
        #expect(none.configuration(over: own, seconds: 0.5) == patient)
        #expect(none.configuration(over: patient) == own)
    }

    @Test func `Images are near the virtual reader, and are saved where the command or the process wants it`() throws {
        var expected = own
        (expected.reader, expected.tags, expected.tagsSource) = ("virtual", "a,b", "--tags")
        let near = try ReaderOptions.parse(["--tags", "a,b"])
        #expect(near.configuration(over: own) == expected)
        expected.savesTags = true
        #expect(near.configuration(over: own, savesTags: true) == expected)
        var saving = own
        saving.savesTags = true
        #expect(near.configuration(over: saving) == expected)
        #expect(near.configuration(over: saving, savesTags: true) == expected)
    }

    @Test func `A reader that is named counts, also beside images`() throws {
        var expected = own
        (expected.reader, expected.readerSource) = ("none", "--reader")
        #expect(try ReaderOptions.parse(["--reader", "none"]).configuration(over: own) == expected)
        (expected.tags, expected.tagsSource) = ("a", "--tags")
        #expect(try ReaderOptions.parse(["--reader", "none", "--tags", "a"]).configuration(over: own) == expected)
    }

    @Test func `A look at the reader of the service is short, and not recorded`() {
        let named = BackgroundDoctorCommand.lookConfiguration(over: own)
        #expect(named.reader == "pcsc" && named.tags == "t" && named.cardReader == "pcsc:C")
        #expect(named.recording == nil && (named.patience ?? .seconds(60)) <= .seconds(5))
        #expect(BackgroundDoctorCommand.lookConfiguration(over: ReaderConfiguration()).reader == "pcsc")
        #expect(BackgroundDoctorCommand.lookConfiguration(over: ReaderConfiguration(tags: "t")).reader == "virtual")
    }

    @Test func `A site is asked as the options say`() throws {
        #expect(try LinksFetchCommand.parse([]).options == AssociationFetcher.Options())
        let words = ["--timeout", "7", "--connect-to", "127.0.0.1:1", "--authorities", "ca.pem"]
        var expected = AssociationFetcher.Options()
        (expected.timeout, expected.connectTo, expected.authorities) = (.seconds(7), "127.0.0.1:1", "ca.pem")
        #expect(try LinksFetchCommand.parse(words).options == expected)
        expected.allowsPrivateAddresses = true
        #expect(try LinksFetchCommand.parse(words + ["--allow-private-addresses"]).options == expected)
    }
}
