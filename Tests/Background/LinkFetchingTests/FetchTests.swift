// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinkFetching
import TestThreads
import Testing

@Suite(.ownThreads) struct `Fetching from a site` {
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

    @Test func `A file is got however it is sent, and a bad answer says what is bad`() async throws {
        let expected: [(String, FetchError.Code?)] = [
            ("good", nil), ("chunked", nil), ("toend", nil), ("early", nil), ("largest", nil), ("redirect", .redirect),
            ("missing", .missing), ("gone", .missing), ("broken", .status), ("large", .tooLarge), ("liar", .tooLarge),
            ("twice", .badResponse), ("short", .truncated), ("gzip", .badResponse), ("text", .badFile),
            ("deep", .badFile), ("garbage", .badResponse), ("head", .tooLarge), ("chunky", .badResponse),
            ("bigchunk", .tooLarge), ("endless", .tooLarge), ("endlesschunks", .tooLarge),
            ("continued", nil), ("lines", nil), ("trailers", .tooLarge), ("twocodings", .badResponse),
            ("nameless", .badResponse), ("hugemissing", .missing), ("nothing", .truncated),
        ]
        for (name, code) in expected {
            #expect(await self.code("\(name).site.example", site.options()) == code, "\(name)")
        }
        let bytes = try await AssociationFetcher(site.options()).fetch("chunked.site.example")
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix(#"{"applinks":"#))
    }

    @Test(arguments: ["good", "chunked", "early", "continued", "lines"])
    func `An answer whose bytes come one by one is the same`(name: String) async throws {
        let bytes = try await AssociationFetcher(site.options()).fetch("slices-\(name).site.example")
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix(#"{"applinks":"#))
        #expect(bytes.count == 77)
    }

    @Test func `A file that somebody between cuts off is not taken`() async {
        // Not every TLS library reports that the end of the connection was not announced; then the JSON ends early.
        let code = await code("cut.site.example", site.options())
        #expect(code == .badFile || code == .truncated)
    }

    @Test func `An answer that ends early is an error at every byte`() async {
        // The length of the answer 'chunked'. Where only the last line feed is missing, libcurl has seen the end.
        let size = 140
        for count in 0..<(size - 1) {
            #expect(await code("first-\(count)-chunked.site.example", site.options()) == .truncated, "\(count)")
        }
        #expect(await code("first-\(size)-chunked.site.example", site.options()) == nil)
    }

    @Test func `Proxies of the environment are not used`() async throws {
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
    func `A site that closes its connection does not end the process, because the thread blocks that signal`() async {
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

    @Test func `The certificate has to be the domain's, from a trusted authority`() async {
        #expect(await code("good.other.example", site.options()) == .certificate)
        var options = site.options()
        options.authorities = nil
        #expect(await code("good.site.example", options) == .certificate)
        options.authorities = "/nowhere"
        #expect(await code("good.site.example", options) == .certificate)
    }

    @Test("What is wrong with a certificate is said once")
    func certificateReason() async {
        var options = site.options()
        options.authorities = nil
        do throws(FetchError) {
            _ = try await AssociationFetcher(options).fetch("good.site.example")
            Issue.record("A site that nobody vouches for was trusted.")
        } catch {
            #expect(error.reason.hasPrefix("The site's certificate is not valid: "), "\(error.reason)")
            #expect(!error.reason.contains("SSL certificate problem"), "\(error.reason)")
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["slow", "silent"])
    func `A site that takes too long is given up`(name: String) async {
        #expect(await code("\(name).site.example", site.options(timeout: .seconds(1))) == .timeout)
    }

    @Test func `Private addresses are refused before anything is sent`() async {
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
        options.connectTo = "localhost:1"
        #expect(await code("good.site.example", options) == .badDomain)
    }
}

@Suite struct `Addresses` {
    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "127.0.0.1", "100.64.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255",
        "100.127.255.255", "198.19.255.255", "192.0.0.1", "192.88.99.1", "198.51.100.1", "203.0.113.1",
        "239.255.255.255",
        "192.168.1.1", "198.18.0.1", "192.0.2.1", "224.0.0.1", "255.255.255.255", "::", "::1", "::ffff:10.0.0.1",
        "fe80::1", "fc00::1", "ff02::1", "64:ff9b::a00:1", "2001::1", "2001:db8::1", "2002:a00:1::1", "3fff::1",
    ])
    func `An address that is not on the public internet is reported`(text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPublic == false)
    }

    @Test(arguments: [
        "100.63.255.255", "198.17.255.255", "198.20.0.1", "172.15.255.255", "192.88.98.1", "203.0.112.255",
        "223.255.255.255", "1.1.1.1", "172.32.0.1", "100.128.0.1", "192.0.1.1", "::ffff:8.8.8.8", "64:ff9b::808:808",
        "2606:4700::1111",
        "2001:4860::8888",
    ])
    func `Others are public`(text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPublic)
    }

    @Test func `Addresses are written as people write them`() {
        #expect(NetworkAddress("2001:DB8:0::1")?.description == "2001:db8::1")
        #expect(NetworkAddress("::ffff:1.2.3.4")?.description == "1.2.3.4")
        #expect(NetworkAddress("1.2.3") == nil)
        #expect(NetworkAddress("x") == nil)
    }
}
