#pragma once
/// The graphs of the digest, as text.

#include <string>

namespace digest_graphs {

/// Graph text, line by line.
struct source {
  std::string body;
  int next = 0;

  std::string line(const std::string& type, const std::string& op) {
    const std::string name = "%v" + std::to_string(next++);
    body += "  " + name + " : " + type + " = " + op + "\n";
    return name;
  }
  void output(const std::string& value) { body += "  output \"o" + std::to_string(next++) + "\" = " + value + "\n"; }
  std::string text(const std::string& name) const { return "graph " + name + " {\n" + body + "}\n"; }
};

inline bool is_float_name(const std::string& t) { return t[0] == 'f' || t[0] == 'b'; }

/// Every op on `t`, and chains whose steps a compiler would like to join.
inline std::string pointwise_of(const std::string& t) {
  source s;
  const std::string x = t + "[7,61]";
  const std::string a = s.line(x, "input \"a\""), b = s.line(x, "input \"b\""), c = s.line(t + "[61]", "input \"c\"");
  const auto each = [&](const std::string& type, const std::vector<std::string>& ops, const std::string& in) {
    for (const std::string& op : ops) s.output(s.line(type, op + " " + in));
  };
  each("i32[7,61]", {"eq", "ne", "lt", "le", "gt", "ge"}, a + ", " + b);
  each(x, {"neg", "abs"}, a);
  each(x, {"add", "sub", "mul", "div", "max", "min"}, a + ", " + b);
  if (is_float_name(t)) {
    each(x, {"exp", "log", "sqrt", "recip", "sin", "cos", "tanh", "erf", "floor"}, a);
    each(x, {"pow"}, a + ", " + b);
  }
  if (t == "i32" || t == "u32") {
    each(x, {"not"}, a);
    each(x, {"and", "or", "xor", "shl", "shr"}, a + ", " + b);
  }
  if (t == "i32") s.output(s.line(x, "select " + a + ", " + b + ", " + c));
  const std::string product = s.line(x, "mul " + a + ", " + b), sum = s.line(x, "add " + product + ", " + c);
  s.output(s.line(x, "sub " + sum + ", " + a));
  s.output(s.line(x, "add " + s.line(x, "div " + a + ", " + c) + ", " + s.line(x, "mul " + b + ", " + b)));
  s.output(s.line(x, "div " + s.line(x, "div " + a + ", " + c) + ", " + b));
  s.output(s.line(x, "sub " + s.line(x, "add " + a + ", " + b) + ", " + b));
  s.output(s.line(x, "max " + s.line(x, "min " + a + ", " + product) + ", " + s.line(x, "neg " + b)));
  return s.text("pointwise_" + t);
}

/// Users' ops (support/custom_ops.hpp) of tiles and of uniform operands, alone and among others.
inline std::string custom_of(const std::string& t) {
  source s;
  const std::string x = t + "[13,67]", a = s.line(x, "input \"a\""), b = s.line(t + "[67]", "input \"b\""), c = s.line(t + "[1]", "input \"c\"");
  const std::string snake = s.line(x, "snake " + a + ", " + b);
  s.output(snake);
  s.output(s.line(x, "half_square " + snake));
  s.output(s.line(t + "[1]", "held " + c + ", " + c + ", " + c));
  s.output(s.line(x, "held " + s.line(x, "held " + snake + ", " + c + ", " + s.line(x, "mul " + a + ", " + a)) + ", " + b + ", " + c));
  return s.text("custom_" + t);
}

inline std::string casts_of(const std::string& t) {
  source s;
  const std::string a = s.line(t + "[203]", "input \"a\"");
  for (const char* to : {"f64", "f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"}) s.output(s.line(std::string(to) + "[203]", "cast " + a));
  return s.text("casts_" + t);
}

/// Softmax, log-softmax, RMSNorm, LayerNorm and argmax over rows of `n`.
inline std::string rows_of(const std::string& t, const std::string& rows, const std::string& n) {
  source s;
  const std::string first = rows + "," + n, x = t + "[" + first + "]";
  const std::string plain_rows = rows.substr(0, rows.find('<')), plain_n = n.substr(0, n.find('<'));
  const std::string full = t + "[" + plain_rows + "," + plain_n + "]", one = t + "[" + plain_rows + ",1]", pick = "i32[" + plain_rows + ",1]";
  const std::string a = s.line(x, "input \"a\""), gain = s.line(t + "[" + plain_n + "]", "input \"gain\"");
  const std::string most = s.line(one, "reduce_max " + a + " {axis=1}"), centred = s.line(full, "sub " + a + ", " + most);
  const std::string odds = s.line(full, "exp " + centred), total = s.line(one, "reduce_sum " + odds + " {axis=1}");
  s.output(s.line(full, "div " + odds + ", " + total));
  s.output(s.line(full, "sub " + centred + ", " + s.line(one, "log " + total)));
  const std::string squares = s.line(one, "reduce_sum " + s.line(full, "mul " + a + ", " + a) + " {axis=1}");
  const std::string mean = s.line(one, "mul " + squares + ", " + t + "(0x1.8p-7)");
  const std::string root = s.line(one, "recip " + s.line(one, "sqrt " + s.line(one, "add " + mean + ", " + t + "(0x1p-9)")));
  s.output(s.line(full, "mul " + s.line(full, "mul " + a + ", " + root) + ", " + gain));
  const std::string middle = s.line(one, "mul " + s.line(one, "reduce_sum " + a + " {axis=1}") + ", " + t + "(0x1.4p-6)");
  const std::string off = s.line(full, "sub " + a + ", " + middle);
  const std::string variance = s.line(one, "reduce_sum " + s.line(full, "mul " + off + ", " + off) + " {axis=1}");
  const std::string scaled = s.line(full, "mul " + off + ", " + s.line(one, "recip " + s.line(one, "sqrt " + variance)));
  s.output(s.line(full, "add " + s.line(full, "mul " + scaled + ", " + gain) + ", " + gain));
  s.output(s.line(pick, "reduce_argmax " + a + " {axis=1}"));
  return s.text("rows_" + t + "_" + plain_n);
}

inline std::string reductions_of(const std::string& t) {
  source s;
  const std::string a = s.line(t + "[6,37,41]", "input \"a\"");
  const char* extents[] = {"[1,37,41]", "[6,1,41]", "[6,37,1]"};
  for (int axis = 0; axis < 3; ++axis) {
    for (const char* op : {"reduce_sum", "reduce_max", "reduce_min"}) s.output(s.line(t + extents[axis], std::string(op) + " " + a + " {axis=" + std::to_string(axis) + "}"));
    s.output(s.line(std::string("i32") + extents[axis], "reduce_argmax " + a + " {axis=" + std::to_string(axis) + "}"));
  }
  return s.text("reductions_" + t);
}

/// x[m,k] · w[n,k] with bias, gate and residual after it; result of x's dtype.
inline std::string contraction_of(const std::string& x, const std::string& w, int m, int k, int n, bool transposed = true) {
  source s;
  const auto ext = [](int a, int b) { return "[" + std::to_string(a) + "," + std::to_string(b) + "]"; };
  const std::string a = s.line(x + ext(m, k), "input \"a\""), b = s.line(w + (transposed ? ext(n, k) : ext(k, n)), "weight \"w\"");
  const std::string r = x + ext(m, n), bias = s.line(x + "[" + std::to_string(n) + "]", "input \"bias\""), rest = s.line(r, "input \"rest\"");
  const std::string y = s.line(r, "matmul " + a + ", " + b + (transposed ? " {transpose_b=1}" : ""));
  const std::string biased = s.line(r, "add " + y + ", " + bias), gate = s.line(r, "recip " + s.line(r, "add " + s.line(r, "exp " + s.line(r, "neg " + biased)) + ", " + x + "(1)"));
  s.output(s.line(r, "add " + s.line(r, "mul " + biased + ", " + gate) + ", " + rest));
  return s.text("contraction_" + x + "_" + w + "_" + std::to_string(m) + "_" + std::to_string(k));
}

inline std::string plain_contractions() {
  return R"(graph products {
  %a : f32[2,3,5,270] = input "a"
  %b : f32[3,270,19]  = input "b"
  %x : f32[4,260]     = input "x"
  %e : f32[3,17,260]  = weight "e"
  %i : i32[4]         = input "i"
  %c : f32[1,4,9,8]   = input "c"
  %k : f32[6,2,3,3]   = input "k"
  %d : f64[5,300]     = input "d"
  %f : f64[300,7]     = input "f"
  %0 : f32[2,3,5,19] = matmul %a, %b
  %1 : f32[4,17]     = indexed_matmul %x, %e, %i
  %2 : f32[1,6,5,8]  = conv2d %c, %k {stride=[2,1] pad=[1,1,1,1] dilation=[1,1] groups=2}
  %3 : f64[5,7]      = matmul %d, %f
  %4 : f32[4,17]     = max %1, f32(0)
  output "m" = %0
  output "t" = %4
  output "v" = %2
  output "w" = %3
}
)";
}

inline std::string gathers_of(const std::string& t) {
  return "graph gather_" + t + " {\n  %w : " + t + "[9,256] = weight \"w\"\n  %i : i32[11] = input \"i\"\n  %b : f32[256] = input \"b\"\n" +
         "  %r : " + t + "[11,256] = gather %w, %i {axis=0}\n  %f : f32[11,256] = cast %r\n  %p : f32[11,256] = mul %f, %b\n" +
         "  %s : f32[11,256] = add %p, %b\n  output \"o\" = %s\n}\n";
}

/// Values beyond the caches are stored past them, and rows beyond a chunk continue in the next.
inline std::string long_chain() {
  return R"(graph long_chain {
  %a : f32[60000] = input "a"
  %b : f32[60000] = input "b"
  %0 : f32[60000] = mul %a, %b
  %1 : f32[60000] = add %0, %a
  %2 : f32[60000] = tanh %1
  %3 : f32[60000] = div %2, %b
  %4 : f32[60000] = sub %3, %0
  %5 : f32[60000] = max %4, %a
  output "o" = %5
}
)";
}

}  // namespace digest_graphs
