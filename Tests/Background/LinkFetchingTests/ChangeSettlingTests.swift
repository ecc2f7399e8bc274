// SPDX-License-Identifier: Apache-2.0
import LinkFetching
import Testing

@Suite struct `The wait after a change of the network` {
    @Test func `Starts again with each change`() {
        var settling = ChangeSettling()
        #expect(!settling.hasChanged)
        for now in [100, 101, 102, 158] {
            #expect(settling.change(at: .seconds(now)) == .seconds(2))
            #expect(settling.hasChanged)
        }
        settling.settle()
        #expect(!settling.hasChanged)
    }

    @Test func `Ends a minute after the first change, even if the network changes all the time`() {
        var settling = ChangeSettling()
        for second in 0...58 { #expect(settling.change(at: .seconds(7 + second)) == .seconds(2)) }
        #expect(settling.change(at: .milliseconds(66_500)) == .milliseconds(500))
        #expect(settling.change(at: .seconds(67)) == .zero)
        #expect(settling.change(at: .seconds(90)) == .zero)
        // The next one waits as long as the first.
        settling.settle()
        #expect(settling.change(at: .seconds(91)) == .seconds(2))
    }
}
