import CCurl
import CCurlShims
import Glibc
import WakeSystem
import WakeTransfers

/// Whom an exchange tells how it goes.
protocol ExchangeOwner: AnyObject {
    /// The header of a response is whole; of several the last counts.
    ///
    /// - Returns: whether to go on.
    func responded(_ exchange: Exchange, status: Int, headers: [HeaderField]) -> Bool
    /// A piece of the body.
    ///
    /// - Returns: whether to go on.
    func received(_ exchange: Exchange, _ bytes: UnsafeRawBufferPointer) -> Bool
    /// Bytes of the upload have left.
    func sent(_ exchange: Exchange)
    /// It is over, and no longer one of the multi's.
    func ended(_ exchange: Exchange, _ result: CURLcode)
}

/// One HTTP request and its response.
@safe final class Exchange {
    let easy: UnsafeMutableRawPointer
    weak var owner: (any ExchangeOwner)?
    private var fields: UnsafeMutablePointer<curl_slist>?
    private let upload: Descriptor?
    private let uploadNumber: Int32?
    /// The size of what is sent; nil without an upload.
    let uploadSize: Int64?
    /// The bytes of it that libcurl has taken.
    private(set) var uploaded: Int64 = 0

    /// Of the last response; 0 before one came.
    private(set) var status = 0
    private var headers: [HeaderField] = []
    private var headerBytes = 0
    /// Whether the status line of a header has come, and its end has not.
    private var isInHeader = false
    private var hasBody = false
    /// Whether the response's header is larger than is kept.
    private(set) var isHeaderTooLong = false

    /// - Parameters:
    ///   - upload: what is sent.
    ///   - certificates: a file of authorities that are trusted besides the system's.
    ///   - timeout: of the connection, in milliseconds.
    init?(_ plan: RequestPlan, upload: consuming Descriptor?, certificates: String?, timeout: Int64) {
        guard let made = unsafe curl_easy_init() else { return nil }
        unsafe easy = made
        unsafe fields = nil
        uploadNumber = upload?.number
        self.upload = upload
        var status = stat()
        if let uploadNumber, unsafe fstat(uploadNumber, &status) == 0 {
            uploadSize = Int64(status.st_size)
        } else {
            uploadSize = nil
        }
        set(plan, certificates, timeout)
        setMethod(plan)
        setFields(plan.headers)
        if let authorization = plan.authorization { set(authorization) }
    }

    deinit {
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(fields)
    }

    var address: UInt { unsafe UInt(bitPattern: easy) }

    /// Where a redirect leads to, as a whole URL.
    var redirectURL: String? {
        unsafe wake_curl_text(easy, CURLINFO_REDIRECT_URL).map { unsafe String(cString: $0) }
    }

    /// What a result means, in libcurl's words.
    static func words(_ result: CURLcode) -> String { unsafe String(cString: curl_easy_strerror(result)) }

    private func set(_ plan: RequestPlan, _ certificates: String?, _ timeout: Int64) {
        text(CURLOPT_URL, plan.url)
        text(CURLOPT_PROTOCOLS_STR, "http,https")
        number(CURLOPT_NOSIGNAL, 1)
        number(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        number(CURLOPT_CONNECTTIMEOUT_MS, Int(timeout))
        number(CURLOPT_BUFFERSIZE, 1 << 18)
        if plan.headers.value(of: "user-agent") == nil { text(CURLOPT_USERAGENT, "Wakebench") }
        // The folder of the system's authorities stays.
        if let certificates { text(CURLOPT_CAINFO, certificates) }
        var callbacks = unsafe wake_curl_exchange(
            header: headerCame,
            body: bodyCame,
            upload: uploadWanted,
            seek: uploadSought
        )
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe wake_curl_set_callbacks(easy, &callbacks, context)
    }

    private func setMethod(_ plan: RequestPlan) {
        if let uploadSize {
            number(CURLOPT_UPLOAD, 1)
            _ = unsafe wake_curl_set_size(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(uploadSize))
        } else if plan.method == "HEAD" {
            number(CURLOPT_NOBODY, 1)
        }
        if plan.method != "HEAD" { text(CURLOPT_CUSTOMREQUEST, plan.method) }
    }

    private func setFields(_ headers: [HeaderField]) {
        for field in headers {
            // An empty value is written with a semicolon.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            unsafe fields = curl_slist_append(fields, line)
        }
        _ = unsafe wake_curl_set_fields(easy, fields)
    }

    private func set(_ authorization: TransferRecord.Authorization) {
        // CURLAUTH_BASIC and CURLAUTH_DIGEST, which are casts.
        number(CURLOPT_HTTPAUTH, authorization.scheme == .basic ? 1 : 2)
        text(CURLOPT_USERNAME, authorization.credential.user)
        text(CURLOPT_PASSWORD, authorization.credential.password)
    }

    private func number(_ option: CURLoption, _ value: Int) {
        let code = unsafe wake_curl_set_number(easy, option, value)
        precondition(code == CURLE_OK, "option \(option.rawValue) failed with \(code.rawValue)")
    }

    private func text(_ option: CURLoption, _ value: String) {
        let code = unsafe wake_curl_set_text(easy, option, value)
        precondition(code == CURLE_OK, "option \(option.rawValue) failed with \(code.rawValue)")
    }

    /// A line of a header, with its end.
    fileprivate func headerLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let line = unsafe bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        let content = unsafe line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        // Nobody has a use for control characters, and each takes six bytes of a packet.
        let text = unsafe String(decoding: content.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
        guard isInHeader else {
            // What comes after a body is no header.
            guard text.hasPrefix("HTTP/"), !hasBody else { return true }
            status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            (headers, headerBytes, isInHeader) = ([], 0, true)
            return true
        }
        guard !text.isEmpty else {
            isInHeader = false
            return status < 200 || owner?.responded(self, status: status, headers: headers) ?? false
        }
        guard let colon = text.firstIndex(of: ":") else { return true }
        let field = HeaderField(String(text[..<colon]), String(text[text.index(after: colon)...].drop { $0 == " " }))
        headerBytes += field.packetBytes
        guard headerBytes <= TransferBounds.longestResponseHeaders else {
            isHeaderTooLong = true
            return false
        }
        headers.append(field)
        return true
    }

    fileprivate func bodyPiece(_ bytes: UnsafeRawBufferPointer) -> Bool {
        hasBody = true
        return unsafe owner?.received(self, bytes) ?? false
    }

    /// - Returns: how many bytes there are; nil when they cannot be read.
    fileprivate func read(into bytes: UnsafeMutableRawBufferPointer) -> Int? {
        guard let number = uploadNumber else { return nil }
        let place = uploaded
        let count = repeatingInterrupted { unsafe pread(number, bytes.baseAddress, bytes.count, Int(place)) }
        guard count >= 0 else { return nil }
        uploaded += Int64(count)
        owner?.sent(self)
        return count
    }

    fileprivate func seek(to place: Int64) { uploaded = place }
}

private func exchange(_ context: UnsafeMutableRawPointer?) -> Exchange {
    unsafe Unmanaged<Exchange>.fromOpaque(context!).takeUnretainedValue()
}

private func headerCame(
    _ start: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
)
    -> Int
{
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: size * count)
    return unsafe exchange(context).headerLine(bytes) ? size * count : 0
}

private func bodyCame(
    _ start: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
)
    -> Int
{
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: size * count)
    // Anything else than the number of bytes ends the exchange.
    return unsafe exchange(context).bodyPiece(bytes) ? size * count : size * count + 1
}

private func uploadWanted(
    _ start: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = unsafe UnsafeMutableRawBufferPointer(start: start, count: size * count)
    // CURL_READFUNC_ABORT.
    return unsafe exchange(context).read(into: bytes) ?? 0x1000_0000
}

private func uploadSought(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    // CURL_SEEKFUNC_OK, and CURL_SEEKFUNC_FAIL for anything but a place from the beginning.
    guard origin == SEEK_SET, offset >= 0 else { return 1 }
    unsafe exchange(context).seek(to: Int64(offset))
    return 0
}
