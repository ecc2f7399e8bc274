// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinkDelivery
import TestThreads
import Testing

/// Files fetched from the real server of `site.py`.
@Suite(.ownThreads) struct FetchTests {
    private let site: Site

    init() throws { site = try Site() }

    private func code(_ domain: String, _ options: AssociationFetcher.Options) async -> FetchError.Code? {
        do throws(FetchError) {
            _ = try await AssociationFetcher(options).fetch(domain)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `Fetch: a file arrives in every form of HTTP, a bad answer has its code`() async throws {
        let expected: [(String, FetchError.Code?)] = [
            ("good", nil), ("chunked", nil), ("toend", nil), ("early", nil), ("largest", nil), ("redirect", .redirect),
            ("missing", .missing), ("gone", .missing), ("broken", .status), ("large", .tooLarge), ("liar", .tooLarge),
            ("twice", .badFile), ("short", .truncated), ("gzip", .badFile), ("text", .badFile),
            ("deep", .badFile), ("garbage", .badResponse), ("head", .tooLarge), ("chunky", .badResponse),
            ("bigchunk", .tooLarge), ("endless", .tooLarge), ("endlesschunks", .tooLarge),
            ("continued", nil), ("lines", nil), ("trailers", .tooLarge), ("twocodings", .badFile),
            ("nameless", .badResponse), ("hugemissing", .missing), ("nothing", .truncated),
        ]
        for (name, code) in expected {
            #expect(await self.code("\(name).site.example", site.options()) == code, "\(name)")
        }
        let bytes = try await AssociationFetcher(site.options()).fetch("chunked.site.example")
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix(#"{"applinks":"#))
    }

    @Test(arguments: ["good", "chunked", "early", "continued", "lines"])
    func `Fetch: an answer that arrives byte by byte is the same file`(name: String) async throws {
        let bytes = try await AssociationFetcher(site.options()).fetch("slices-\(name).site.example")
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix(#"{"applinks":"#))
        #expect(bytes.count == 77)
    }

    @Test func `Fetch: a connection that is cut without the close notify of TLS is badFile or truncated`() async {
        // Not every TLS library reports that the end of the connection was not announced; then the JSON ends early.
        let code = await code("cut.site.example", site.options())
        #expect(code == .badFile || code == .truncated)
    }

    @Test func `Fetch: an answer that ends early is truncated`() async {
        // The length of the answer 'chunked'. Where only the last line feed is missing, libcurl has seen the end.
        let size = 140
        for count in Array(stride(from: 0, to: size - 1, by: 7)) + [size - 2] {
            #expect(await code("first-\(count)-chunked.site.example", site.options()) == .truncated, "\(count)")
        }
        #expect(await code("first-\(size)-chunked.site.example", site.options()) == nil)
    }

    @Test func `Fetch: proxies of the environment are not used`() async throws {
        // In another process, because all threads share the environment.
        await #expect(processExitsWith: .success) {
            unsafe setenv("https_proxy", "http://127.0.0.1:1", 1)
            unsafe setenv("ALL_PROXY", "http://127.0.0.1:1", 1)
            let site = try Site()
            _ = try await AssociationFetcher(site.options()).fetch("good.site.example")
        }
    }

    /// The threads of this process that block SIGPIPE, without those that are just being made, which block every signal.
    private static func threadsWithoutSIGPIPE() throws -> Set<String> {
        let folder = "/proc/self/task"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
            let status = try? String(contentsOfFile: "\(folder)/\(name)/status", encoding: .utf8)
            let line = status?.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
            let mask = line.flatMap { UInt64($0.dropFirst(8), radix: 16) } ?? 0
            func isBlocked(_ signal: Int32) -> Bool { mask >> UInt64(signal - 1) & 1 == 1 }
            return isBlocked(SIGPIPE) && !isBlocked(SIGSEGV)
        }
        return Set(names)
    }

    @Test(.timeLimit(.minutes(2)))
    func `Fetch: a site that closes its connection does not end the process by SIGPIPE`() async {
        // In another process, because threads of other tests block it too.
        await #expect(processExitsWith: .success) {
            var site: Site? = try Site()
            let options = site?.options(timeout: .seconds(60)) ?? .init()
            let before = try Self.threadsWithoutSIGPIPE()
            let download = Task { try? await AssociationFetcher(options).fetch("silent.site.example") }
            var threads: Set<String> = []
            let end = ContinuousClock.now + .seconds(20)
            while threads.isEmpty, ContinuousClock.now < end {
                threads = try Self.threadsWithoutSIGPIPE().subtracting(before)
                await Task.yield()
            }
            #expect(!threads.isEmpty)
            site = nil
            #expect(await download.value == nil)
        }
    }

    @Test func `Fetch: a certificate of another domain or authority is refused`() async {
        #expect(await code("good.other.example", site.options()) == .certificate)
        var options = site.options()
        options.authorities = nil
        #expect(await code("good.site.example", options) == .certificate)
        options.authorities = "/nowhere"
        #expect(await code("good.site.example", options) == .certificate)
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["slow", "silent"])
    func `Fetch: a slow or silent site ends with timeout`(name: String) async {
        #expect(await code("\(name).site.example", site.options(timeout: .seconds(1))) == .timeout)
    }

    @Test func `Fetch: private addresses and bad domains are refused`() async {
        var options = AssociationFetcher.Options()
        #expect(await code("localhost", options) == .privateAddress)
        #expect(await code("127.0.0.1", options) == .badDomain)
        #expect(await code("[::1]", options) == .badDomain)
        #expect(await code("a/b.example", options) == .badDomain)
        #expect(await code("a.example\r\nX: y", options) == .badDomain)
        // By choice they are connected to; what is there is no site that is trusted.
        options.allowsPrivateAddresses = true
        let other = await code("localhost", options)
        #expect(other != nil && other != .privateAddress)
        options.allowsPrivateAddresses = false
        options.connectTo = "127.0.0.1:1"
        #expect(await code("good.site.example", options) == .noConnection)
        for place in [
            "localhost:1", "", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "[::1]", ":1",
        ] {
            options.connectTo = place
            #expect(await code("good.site.example", options) == .badDomain, "\(place)")
        }
    }
}
